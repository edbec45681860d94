# syntax=docker/dockerfile:1
# One image for the API and the worker; docker-compose.yml selects which one a container runs.
# Debian, not Alpine: the Temporal SDK's native library needs glibc.
ARG NODE=node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json ./console/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM ${NODE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund
# The SDK ships its library for five platforms; this image needs only one.
RUN node --input-type=commonjs -e " \
  const folder = 'node_modules/@temporalio/core-bridge/releases'; \
  const own = { x64: 'x86_64', arm64: 'aarch64' }[process.arch] + '-unknown-linux-gnu'; \
  for (const name of fs.readdirSync(folder)) if (name !== own) fs.rmSync(folder + '/' + name, { recursive: true });"

FROM ${NODE} AS runtime
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DOWNSTREAM_PORT=8081 DATA_DIR=/data \
    MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
RUN install -d -o node -g node -m 0700 /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY --from=build /app/dist/src ./dist/src
COPY --from=build /app/dist/workflows ./dist/workflows
COPY --from=build /app/dist/activities ./dist/activities
COPY --from=build /app/dist/clients ./dist/clients
COPY --from=build /app/sdk/cli/dist ./sdk/cli/dist
RUN ln -s /app/sdk/cli/dist/gcs.mjs /usr/local/bin/gcs
COPY --from=build /app/dist/console ./dist/console
COPY --from=build /app/dist/cypher-grammar ./dist/cypher-grammar
COPY workflows/failure-converter.cjs workflows/payload-converter.cjs ./workflows/
COPY --from=build /app/dist/workflow-bundle.js ./dist/workflow-bundle.js
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "dist/src/main.js"]
