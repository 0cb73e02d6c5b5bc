"""Draw the picture of the page on reading the report: ``python scripts/picture_report.py FOLDER``.

FOLDER is that of an audit, such as the one that ``make demo`` leaves. Numbers are put beside the
parts that the page explains. Needs Chromium and its driver.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from selenium import webdriver

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "report.png"
#: What the numbers stand beside, from the top of the page down: an element, and which one.
PARTS = (
    ("h1", 0),
    ("#summary li", 0),
    ("#summary li", 1),
    ("#summary li", 2),
    ("#words figure", 0),
    ("#words table thead", 0),
    ("#words table tbody tr", 0),
)
WIDTH, HEIGHT = 1280, 2560
MARK = """
const box = arguments[0].getBoundingClientRect();
const left = document.querySelector("#summary").getBoundingClientRect().left;
const mark = document.createElement("div");
mark.textContent = arguments[1];
mark.style.cssText = `position:absolute; left:${left - 46}px;
  top:${box.top + scrollY + 4}px; width:28px; height:28px; border-radius:14px; background:#b3261e;
  color:white; font:bold 16px/28px sans-serif; text-align:center; z-index:9`;
document.body.append(mark);
"""


def main() -> None:
    """Open the report, put the numbers beside its parts, and save what is seen."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        browser.set_window_size(WIDTH, HEIGHT)
        browser.get((Path(sys.argv[1]).resolve() / "report.html").as_uri())
        for number, (selector, which) in enumerate(PARTS, start=1):
            element = browser.find_elements("css selector", selector)[which]
            browser.execute_script(MARK, element, str(number))
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png()))
    # With few colours the file is a third as large.
    picture.convert("RGB").quantize(200).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
