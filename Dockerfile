# docker build -t bayesbias .
# docker run --rm -v "$PWD:/work" bayesbias audit my-vectors.bin --study religion --out report
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir "hatchling>=1.25" && python -m hatchling build -t wheel -d /wheels

FROM python:3.12-slim
# PyMC's own sampler compiles its models in C; the exact engine and nutpie do without.
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels && useradd --create-home user
USER user
WORKDIR /work
ENTRYPOINT ["bayesbias"]
CMD ["--help"]
