"use strict";
// Everything on the page can be read without this; it adds colours to choose, sorting, filters,
// rows that open, values where the reader points, and parts to choose between.
(() => {
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // ---- light and dark: the choice is remembered where the browser allows it
  const KEY = "report-colours";
  const dark = document.getElementById("dark");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const asSystem = dark.media;
  let chosen = null;
  try { chosen = localStorage.getItem(KEY); } catch { /* a file opened from disk may not store */ }
  const isDark = () => (chosen === null ? system.matches : chosen === "dark");
  const paint = () => {
    dark.media = chosen === null ? asSystem : chosen === "dark" ? "screen" : "not all";
  };
  paint();

  function addTheme(nav) {
    const button = make("button", { type: "button", class: "theme" }, "Dark");
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      chosen = isDark() ? "light" : "dark";
      try { localStorage.setItem(KEY, chosen); } catch { /* as above */ }
      paint();
      tell();
    });
    system.addEventListener("change", tell);
    tell();
    nav.append(button);
  }

  // ---- contents: folded on narrow screens, the section in view is marked
  function followContents(nav) {
    const list = nav.querySelector("details");
    const wide = matchMedia("(min-width: 64rem)");
    const fold = () => { list.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
    const links = new Map();
    for (const link of nav.querySelectorAll("a")) {
      links.set(link.hash.slice(1), link);
      link.addEventListener("click", fold);
    }
    const watch = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(target.id).setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-15% 0px -80%" });
    for (const name of links.keys()) watch.observe(document.getElementById(name));
  }

  // ---- tables
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const folded = (text) =>
    text.normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("\u2212", "-").toLowerCase();

  function keyOf(row, column) {
    const cell = row.cells[column];
    const value = cell.dataset.v;
    if (value === undefined) return cell.textContent;
    return value === "" ? null : Number(value);
  }

  function compare(a, b) {
    return typeof a === "number" ? a - b : collator.compare(a, b);
  }

  // What is missing comes last, whichever way the rest is sorted.
  function sorted(rows, column, direction) {
    const keyed = rows.map((row) => [keyOf(row, column), row]);
    const known = keyed.filter(([key]) => key !== null);
    const missing = keyed.filter(([key]) => key === null);
    known.sort(([a], [b]) => direction * compare(a, b));
    return [...known, ...missing].map(([, row]) => row);
  }

  // Long tables are laid out this many rows at a time, as the reader scrolls, to be quick.
  const CHUNK = 200;
  const tables = [];

  function enhanceTable(figure) {
    const box = figure.querySelector(".box");
    const table = figure.querySelector("table");
    const body = table.tBodies[0];
    const headings = [...table.tHead.rows[0].cells];
    const given = [...body.rows];
    const opened = new Map();
    let order = given;
    let fits = () => true;
    let wanted = given;
    let placed = 0;

    const withDetails = (rows) =>
      rows.flatMap((row) => (opened.has(row) ? [row, opened.get(row)] : [row]));
    const grow = (count) => {
      body.append(...withDetails(wanted.slice(placed, placed + count)));
      placed += count;
    };
    const show = () => {
      wanted = order.filter(fits);
      body.replaceChildren();
      placed = 0;
      grow(CHUNK);
    };
    if (given.length > CHUNK) {
      box.addEventListener("scroll", () => {
        if (placed < wanted.length && box.scrollTop + 2 * box.clientHeight > box.scrollHeight) grow(CHUNK);
      });
    }
    tables.push({ complete: () => grow(Infinity), show });

    if (table.classList.contains("sortable")) addSorting();
    if (table.classList.contains("filterable")) addFilter();
    addDetails();
    if (given.length > CHUNK) show();

    function addSorting() {
      headings.forEach((heading, column) => {
        const title = heading.querySelector(".title");
        const button = make("button", { type: "button", class: "sort" }, ...title.childNodes);
        title.append(button);
        button.addEventListener("click", () => {
          const before = heading.getAttribute("aria-sort");
          for (const other of headings) other.removeAttribute("aria-sort");
          // Ascending, descending, and as it was.
          const next = { ascending: "descending", descending: null }[before];
          const now = next === undefined ? "ascending" : next;
          if (now) heading.setAttribute("aria-sort", now);
          order = now ? sorted(given, column, now === "ascending" ? 1 : -1) : given;
          show();
        });
      });
    }

    function addFilter() {
      const name = figure.querySelector("figcaption")?.textContent ?? "the table";
      const search = make("input", { type: "search", placeholder: "Find rows", "aria-label": `Find rows in: ${name}` });
      const count = make("output");
      const tools = make("div", { class: "tools" }, search, ...choices(), count);
      const texts = new Map();
      const textOf = (row) => {
        if (!texts.has(row)) texts.set(row, folded(row.textContent));
        return texts.get(row);
      };
      const tell = () => {
        const [some, all] = [wanted, given].map((rows) => rows.length.toLocaleString("en"));
        count.textContent = some === all ? `${all} rows` : `${some} of ${all} rows`;
        tools.classList.toggle("filtered", some !== all);
      };
      tools.addEventListener("input", () => {
        const parts = folded(search.value).split(/\s+/);
        const selects = [...tools.querySelectorAll("select")].filter((select) => select.value !== "");
        fits = (row) =>
          parts.every((part) => textOf(row).includes(part)) &&
          selects.every(({ name, value }) => row.cells[name].textContent === value.slice(1));
        show();
        tell();
      });
      box.before(tools);
      tell();
    }

    // A menu for each column to choose by. "=" before a text sets it apart from all of them.
    function choices() {
      return headings.flatMap((heading, column) => {
        if (!("choose" in heading.dataset)) return [];
        const title = heading.textContent;
        const texts = [...new Set(given.map((row) => row.cells[column].textContent))];
        const options = texts.map((text) => make("option", { value: `=${text}` }, text));
        const all = make("option", { value: "" }, `${title}: all`);
        return make("select", { name: column, "aria-label": title }, all, ...options);
      });
    }

    // What rows open is kept as text, and becomes part of the page row by row.
    function addDetails() {
      const kept = figure.querySelector(":scope > noscript");
      if (!kept) return;
      kept.textContent.split("<!--row-->").forEach((text, index) => {
        if (!text) return;
        const row = given[index];
        const name = row.cells[0];
        const button = make("button", { type: "button", class: "open", "aria-expanded": "false" }, ...name.childNodes);
        name.append(button);
        button.addEventListener("click", () => {
          if (opened.has(row)) {
            opened.get(row).remove();
            opened.delete(row);
          } else {
            const template = document.createElement("template");
            template.innerHTML = text;
            const details = template.content.firstElementChild;
            details.firstElementChild.remove();
            const inside = make("div", { class: "inside" }, ...details.childNodes);
            const cell = make("td", { colspan: headings.length }, inside);
            opened.set(row, make("tr", { class: "detail" }, cell));
            row.after(opened.get(row));
            enhance(cell);
          }
          button.setAttribute("aria-expanded", String(opened.has(row)));
        });
      });
    }
  }

  // ---- what the reader points at: its value, and what else on the page is the same thing
  function addPointing() {
    const tip = make("div", { class: "tip", role: "status", hidden: "" });
    document.body.append(tip);
    let lit = [];
    let pinned = null;
    const light = (element) => {
      for (const other of lit) other.classList.remove("lit");
      const key = element?.dataset.key;
      const scope = element?.closest(".option, main > section");
      lit = key && scope ? [...scope.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)] : [];
      for (const other of lit) other.classList.add("lit");
    };
    const place = (x, y) => {
      const { width, height } = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
      tip.style.top = `${y - height - 12 < 4 ? y + 18 : y - height - 12}px`;
    };
    document.addEventListener("pointerover", ({ target, clientX, clientY }) => {
      const text = target.closest?.("[data-tip]")?.dataset.tip;
      tip.hidden = text === undefined;
      if (text !== undefined) {
        tip.textContent = text;
        place(clientX, clientY);
      }
      light(target.closest?.("[data-key]") ?? pinned);
    });
    document.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!tip.hidden) place(clientX, clientY);
    });
    addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
    document.addEventListener("focusin", ({ target }) => light(target.closest("[data-key]") ?? pinned));
    document.addEventListener("click", ({ target }) => {
      const element = target.closest("[data-key]");
      if (!element) return;
      pinned = pinned === element && !target.closest("button") ? null : element;
      light(pinned);
      if (!(element instanceof SVGElement)) return;
      // A mark of a figure opens its row.
      const row = lit.find((other) => other.matches("tr"));
      if (!row) return;
      row.querySelector(".open[aria-expanded=false]")?.click();
      row.scrollIntoView({ block: "start" });
      pinned = row;
    });
  }

  // ---- one of several parts; those with the same label change together
  const chosenParts = [];
  function enhanceChoice(choice, number) {
    const parts = [...choice.children];
    const label = choice.dataset.label;
    const bar = make("fieldset", {}, make("legend", {}, label));
    const show = (name) => {
      if (!parts.some((part) => part.dataset.name === name)) return;
      for (const part of parts) part.hidden = part.dataset.name !== name;
      for (const input of bar.querySelectorAll("input")) input.checked = input.value === name;
    };
    for (const part of parts) {
      const input = make("input", { type: "radio", name: `choice-${number}`, value: part.dataset.name });
      input.addEventListener("change", () => {
        for (const other of chosenParts) if (other.label === label) other.show(input.value);
      });
      bar.append(make("label", {}, input, make("span", {}, part.dataset.name)));
    }
    choice.prepend(bar);
    choice.classList.add("active");
    chosenParts.push({ label, show });
    show(parts[0].dataset.name);
  }

  // ---- text to copy
  function addCopy(code) {
    if (!navigator.clipboard) return;
    const button = make("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.querySelector("code").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    code.append(button);
  }

  // ---- what scrolls can be scrolled with the keyboard; the rest need not be stopped at
  const reach = new ResizeObserver((boxes) => {
    for (const { target: box } of boxes) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (scrolls) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    }
  });

  function enhance(root) {
    root.querySelectorAll(".box").forEach((box) => reach.observe(box));
    root.querySelectorAll("figure.table").forEach(enhanceTable);
    root.querySelectorAll("div.choice").forEach((choice) => enhanceChoice(choice, chosenParts.length));
    root.querySelectorAll("div.code").forEach(addCopy);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const nav = document.querySelector("nav");
    addTheme(nav);
    followContents(nav);
    enhance(document);
    addPointing();
    // On paper nothing is folded and tables are complete.
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details.fold:not([open], .screen-only)")];
      for (const fold of closed) fold.open = true;
      for (const table of tables) table.complete();
    });
    addEventListener("afterprint", () => {
      for (const fold of closed) fold.open = false;
      for (const table of tables) table.show();
    });
  });
})();
