# Bun comes the way a fresh clone gets it (scripts/bun.sh, from npm, by its hash), so that image and clone run the same.
# Bases are pinned by their full tags; docs/supply-chain.md says how to pin them by digest.
FROM node:22.22.2-bookworm-slim AS build
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY scripts/bun.sh scripts/bun.sh
RUN sh scripts/bun.sh --version \
 && install -m 0755 .cache/bun-*/bin/bun /usr/local/bin/bun \
 && rm -rf node_modules \
 && bun install --frozen-lockfile --production

FROM debian:bookworm-20260824-slim
ARG VERSION=0.2.0
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Covenant" \
      org.opencontainers.image.description="Data contract governance for Apache Iceberg lakehouses" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="The Covenant project" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.base.name="debian:bookworm-20260824-slim"
# Not pinned by version: Debian keeps only the newest, and root certificates are to be the newest.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --user-group --no-create-home covenant \
 && install -d -o covenant -g covenant -m 0700 /var/lib/covenant
WORKDIR /app
COPY --from=build /usr/local/bin/bun /usr/local/bin/bun
COPY --from=build /app/node_modules node_modules
COPY package.json LICENSE ./
COPY migrations migrations
COPY docs docs
COPY src src
ENV NODE_ENV=production SVC_DATA_DIR=/var/lib/covenant UV_THREADPOOL_SIZE=16 mimalloc_scavenger=0
USER 10001:10001
VOLUME /var/lib/covenant
EXPOSE 8080 9100 5433 8082
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bun", "-e", "const p = (process.env.SVC_LISTEN_ADDR || ':8080').split(':').pop(); process.exit((await fetch(`http://127.0.0.1:${p}/healthz`)).ok ? 0 : 1)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["bun", "src/main.ts"]
CMD ["serve"]
