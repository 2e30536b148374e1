# Icecast and Liquidsoap as Debian has them; compose chooses which. What they are started with lies in the volume `radio`.
FROM debian:bookworm-slim
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
  && apt-get install -y --no-install-recommends icecast2 liquidsoap \
  && rm -rf /var/lib/apt/lists/*
# The same number as the user of Cuewire's image, whose secrets in that volume are for its user alone.
RUN useradd --uid 1000 --create-home radio
USER radio
EXPOSE 8000 8005
