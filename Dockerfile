# Two stages: npm installs the packages and the runtime, and the dashboard and the server are bundled; neither npm nor its sources are part of the image.
FROM node:22.21-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY src ./src
COPY web ./web
COPY scripts/bundle.ts scripts/programs.ts ./scripts/
RUN node_modules/.bin/bun --no-env-file web/bundle.ts && node_modules/.bin/bun --no-env-file scripts/bundle.ts

FROM debian:12.12-slim
RUN groupadd --system --gid 10001 quicklink \
  && useradd --system --uid 10001 --gid quicklink --home-dir /data --shell /usr/sbin/nologin quicklink \
  && install --directory --mode=0700 --owner=quicklink --group=quicklink /data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/dist ./dist
COPY package.json LICENSE ./
COPY src ./src
ENV PATH=/app/node_modules/.bin:$PATH QL_DATA=/data
USER quicklink
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["bun", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["bun", "--no-env-file", "/app/dist/server/main.ts"]
CMD ["serve"]
