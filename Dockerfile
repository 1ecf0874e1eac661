# The current Node.js LTS; `.ci/run` tests with the same.
ARG NODE_VERSION=26.10.0
ARG DEBIAN=trixie
# Written by `npm run pin:images`, and required for a release. Empty: whatever the tag means today.
ARG NODE_DIGEST=
ARG DEBIAN_DIGEST=
# debian or distroless.
ARG BASE=debian

FROM node:${NODE_VERSION}-${DEBIAN}-slim${NODE_DIGEST} AS sources
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build-json-columns.mjs scripts/
COPY src src

# What the binary of Node.js is linked with.
FROM debian:${DEBIAN}-slim${DEBIAN_DIGEST} AS debian
RUN apt-get update \
 && apt-get install -y --no-install-recommends libatomic1 libstdc++6 \
 && rm -rf /var/lib/apt/lists/*

# The simulated service, for deploy/compose alone: `--target=simulator`.
FROM sources AS simulator
COPY test/simulator test/simulator
RUN npm run compile:simulator
USER 65532:65532
EXPOSE 20140
ENTRYPOINT ["node", "/src/build/test/simulator/main.js"]

FROM sources AS build
# Pruning leaves the folders of scopes behind, empty.
RUN npm run build -- --sourceMap false \
 && rm dist/.tsbuildinfo \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && find node_modules -depth -type d -empty -delete \
 && mkdir --mode=0700 /state

# The same libraries alone, and prlimit, which Kubernetes starts the program with; with the descriptions of their packages,
# which scanners read.
FROM debian AS libraries
COPY --from=build /usr/local/bin/node /usr/local/bin/node
RUN libraries=$(ldd /usr/local/bin/node /usr/bin/prlimit | grep -o '/[^ ]*' | grep -v ':$') \
 && mkdir -p /files/var/lib/dpkg/status.d /files/tmp \
 && chmod 1777 /files/tmp \
 && cp -a /etc/nsswitch.conf /etc/debian_version /etc/os-release --parents /files \
 && cp -aL /usr/lib/os-release --parents /files \
 && for file in /usr/bin/prlimit $libraries; do \
      cp -L --parents "$file" /files \
   && package=$(dpkg-query --search "$(readlink -f "$file")" | cut -d: -f1) \
   && dpkg-query --status "$package" > "/files/var/lib/dpkg/status.d/$package" || exit 1; \
    done

FROM scratch AS distroless
COPY --from=libraries /files /

# No npm, no compiler, no headers: the program, the libraries that it runs on, and the binary of Node.js. `--build-arg
# BASE=distroless` leaves out the shell and the rest of Debian too.
FROM ${BASE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="xvs-exporter" \
      org.opencontainers.image.description="Prometheus exporter for a live-video streaming and transcoding service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://example.com/xvs-exporter" \
      org.opencontainers.image.source="https://example.com/xvs-exporter.git" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/node_modules /opt/xvs-exporter/node_modules
COPY --from=build /src/dist /opt/xvs-exporter/dist
COPY package.json LICENSE /opt/xvs-exporter/
# A named volume that is mounted there gets the owner of the folder.
COPY --from=build --chown=65532:65532 /state /var/lib/xvs-exporter
ENV NODE_ENV=production \
    STATE_DIRECTORY=/var/lib/xvs-exporter \
    XVS_EXPORTER_REVISION=${REVISION}
# Before USER, so that it is root's: some builders give it to the user.
WORKDIR /etc/xvs-exporter
# Nobody, by number: Kubernetes can then see that it is not root. It writes only its state, so / may be read-only.
USER 65532:65532
EXPOSE 20928
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s \
  CMD ["node", "--disable-sigusr1", "/opt/xvs-exporter/dist/main.js", "healthcheck"]
ENTRYPOINT ["node", "--disable-sigusr1", "/opt/xvs-exporter/dist/main.js"]
