/**
 * Exits with 0 if the server of this container answers `GET /api/status`, else with 1: the health check of
 * `docker-compose.yml`. A file, since Podman splits an argument that contains spaces.
 */
const port = process.env.PORT || '8080'

try {
  const response = await fetch(`http://127.0.0.1:${port}/api/status`, { signal: AbortSignal.timeout(4_000) })
  if (!response.ok) throw new Error(`status ${response.status}`)
} catch (error) {
  console.error(`health-check: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
}
