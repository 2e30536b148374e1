import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { startProgram } from '../../bench/program.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'

/**
 * Checks the running program against its OpenAPI document with Schemathesis: `npm run fuzz [-- more
 * options]`. The program starts in an empty folder with its demo station. Exits with the exit code of
 * Schemathesis.
 */
const schemathesis = process.env['SCHEMATHESIS'] ?? 'schemathesis'
const adminKey = '00000000000f0220:00000000000000000000000000f02200'

const config = fileURLToPath(new URL('schemathesis.toml', import.meta.url))

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'unsupported_method',
  'allow_header_conformance'
]

if (spawnSync(schemathesis, ['--version']).error) {
  process.stderr.write('schemathesis is not on the PATH; see test/fuzz/README.md\n')
  process.exit(1)
}

const program = await startProgram(await findFreePort(), { env: { ADMIN_API_KEY: adminKey, DEMO: 'on' } })
const options = Object.entries({
  '--url': program.baseUrl,
  '--header': `X-API-Key: ${adminKey}`,
  '--checks': checks.join(),
  '--phases': 'examples,coverage,fuzzing,stateful',
  '--max-examples': '50',
  // The rate limit for writes is 100 per second and key.
  '--rate-limit': '90/s',
  '--request-timeout': '10',
  // Without the demo station most later requests would return 404.
  '--exclude-operation-id': 'deleteStation',
  '--suppress-health-check': 'all'
}).flat()
try {
  const child = spawn(
    schemathesis,
    [
      '--config-file',
      config,
      'run',
      `${program.baseUrl}/api/openapi.json`,
      ...options,
      '--continue-on-failure',
      ...process.argv.slice(2)
    ],
    { stdio: 'inherit' }
  )
  const [code] = await once(child, 'exit')
  process.exitCode = Number(code ?? 1)
} finally {
  await program.stop()
}
