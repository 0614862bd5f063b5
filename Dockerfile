# Builds with BuildKit and with the classic builder: no frontend to pull, no mounts, no here-documents.
# Another base: docker build --build-arg BASE=<image with Node 26 and npm> . (docs/containers.md)
ARG BASE=node:26.10.0-slim

# The packages that are run, and nothing that only builds or tests. No package's own script is run.
FROM ${BASE} AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# The sources, compiled. Declarations and source maps are of no use without the sources.
FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && find dist -name '*.d.ts' -delete && find dist -name '*.map' -delete

FROM ${BASE}
LABEL org.opencontainers.image.title="fraud-screening-connector" \
      org.opencontainers.image.description="Joins Apache Kafka payment topics to an HTTP fraud screening service." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
# Nothing is installed where it runs: package managers would only be something more to keep patched.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
    && ln -s /app/src/bin.mjs /usr/local/bin/fraud-connector
# Owned by root and read by the user below: the program cannot change itself. What changes least comes first.
COPY LICENSE ./
COPY --from=modules /app/node_modules ./node_modules
COPY package.json ./
COPY src/bin.mjs ./src/bin.mjs
COPY --from=build /app/dist ./dist

# In a container only the network of the container reaches the port; on a host of its own the default is loopback.
ENV NODE_ENV=production \
    OPS_HOST=0.0.0.0
# By number, so that an orchestrator can see that it is not root. It is the user `node` of the base.
USER 1000:1000
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
# Whether only a restart helps; of a container that runs another command than `run`, turn it off.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({host:'127.0.0.1',port:process.env.OPS_PORT||9464,path:'/livez',timeout:3000},r=>process.exit(r.statusCode===200?0:1)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))"]
# Node is process 1: it answers SIGTERM and SIGINT itself, and `run` starts no child that an init would have to bury.
ENTRYPOINT ["node", "/app/src/bin.mjs"]
CMD ["run"]
