# One image for every process; compose (or whatever runs it) chooses `server` or `workers`.
# Debian, not Alpine: the binary of uWebSockets.js needs glibc.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The install applies them.
COPY patches ./patches
RUN npm ci --no-audit --no-fund
COPY scripts ./scripts
COPY src ./src
COPY workers ./workers
COPY web ./web
COPY assets ./assets
# Part of the version: docker build --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
RUN COMMIT=$COMMIT npm run build

FROM node:24-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-trixie-slim
WORKDIR /app
# Look-ups of names occupy threads for as long as a name server is silent.
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16
COPY package.json ./
COPY scripts ./scripts
COPY assets/radio ./assets/radio
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# New volumes are those of their folders here.
RUN install -d -o node -g node /data /data/stations /data/uploads /radio
USER node
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
CMD ["node", "--enable-source-maps", "dist/src/server.js"]
