# The image that CI runs in: Debian 12, whose Prometheus is the oldest supported one. `npm run pin:images` writes the digest.
ARG NODE_DIGEST=
FROM node:20-bookworm${NODE_DIGEST}
