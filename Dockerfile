FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 STREAMLIT_BROWSER_GATHER_USAGE_STATS=false HOME=/data
WORKDIR /app

# The libraries change seldom and make a layer of their own; those for development are left out.
COPY pyproject.toml README.md LICENSE requirements-image.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-image.lock
COPY services services
COPY ui ui
RUN pip install --no-cache-dir --no-deps . \
    && useradd --system --uid 10001 --home-dir /data tonnage \
    && install -d -o tonnage -g tonnage /data

USER 10001
VOLUME /data
