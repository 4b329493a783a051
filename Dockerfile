# docker build --build-arg TORCH_INDEX=<the index of PyTorch's CPU wheels, from pytorch.org> -t chunk-sweep .
# docker run --rm -v "$PWD/my-labelled-docs:/data:ro" -v chunk-sweep:/outputs chunk-sweep run dataset=folder 'dataset.path="/data"'
FROM python:3.11-slim

# The index that torch comes from. Empty: the usual one, whose Linux wheels carry CUDA and are 3 GB larger.
ARG TORCH_INDEX=

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONUNBUFFERED=1

WORKDIR /src
COPY . .
RUN if [ -n "${TORCH_INDEX}" ]; then pip install -c constraints.txt torch --index-url "${TORCH_INDEX}"; fi \
    && pip install -c constraints.txt ".[documents]" \
    && useradd --create-home --home-dir /outputs --uid 10001 sweep

# What a command writes (outputs/ among it) lies in /outputs, which outlives the container.
ENV HOME=/outputs
USER 10001
WORKDIR /outputs
VOLUME /outputs
ENTRYPOINT ["chunk-sweep"]
CMD ["--help"]
