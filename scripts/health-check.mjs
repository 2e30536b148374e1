/**
 * The health check of `docker-compose.yml`: exits with 0 if `GET /api/status` succeeds, else with 1. A file,
 * because Podman splits arguments that contain spaces.
 */
const port = process.env.PORT || '8080'

try {
  const response = await fetch(`http://127.0.0.1:${port}/api/status`, { signal: AbortSignal.timeout(4_000) })
  if (!response.ok) throw new Error(`status ${response.status}`)
} catch (error) {
  console.error(`health-check: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
}
