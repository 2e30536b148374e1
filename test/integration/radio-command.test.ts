import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { adminKey, type Program } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const command = fileURLToPath(new URL('../../scripts/radio.mjs', import.meta.url))

/** Runs `npm run radio` with a Liquidsoap that is this shell script. Returns the exit code and the error output. */
async function runRadio(program: Program, liquidsoap: string, variables: Record<string, string> = {}) {
  const folder = await scratchFolder()
  const writeProgram = async (name: string, script: string) => {
    const path = join(folder, name)
    await writeFile(path, `#!/bin/sh\n${script}\n`)
    await chmod(path, 0o755)
    return path
  }
  const env = {
    PATH: process.env['PATH'],
    CUEWIRE_URL: program.baseUrl,
    DATA_DIR: program.dataDir,
    ADMIN_API_KEY: adminKey,
    RADIO_STATION: 'command',
    RADIO_DIR: join(folder, 'radio'),
    MELODY_SECONDS: '2',
    ICECAST: await writeProgram('icecast', 'exit 1'),
    LIQUIDSOAP: await writeProgram('liquidsoap', liquidsoap),
    ...variables
  }
  return new Promise<{ code: unknown; stderr: string }>(resolve => {
    execFile(process.execPath, [command], { env, timeout: 60_000 }, (error, _, stderr) =>
      resolve({ code: error?.code, stderr: stderr.replaceAll(folder, '') })
    )
  })
}

test.for(['2.0.7', '1.4.3', '2.5.0', '2.10.1+dev', '3.0.0'])(
  'Liquidsoap %s is refused in one line, and a supervisor does not try again',
  async (version, { program }) => {
    expect(await runRadio(program, `echo 'Liquidsoap ${version}'`)).toEqual({
      code: 78,
      stderr: `radio: Liquidsoap ${version} (/liquidsoap) is not supported: install Liquidsoap 2.1 to 2.4\n`
    })
  }
)

test('a script that Liquidsoap refuses ends the radio with its reason', async ({ program }) => {
  const script = `case "$1" in --version) echo 'Liquidsoap 2.3.2+dev'; exit;; esac
echo 'Warning: old notation'; echo 'At station.liq, line 28:'; echo '  value = x'; echo; echo 'Error 15: Missing arguments.'; exit 1`
  const { code, stderr } = await runRadio(program, script)
  expect(code).toBe(78)
  expect(stderr).toBe(
    'radio: Liquidsoap refuses /radio/station.liq: At station.liq, line 28: value = x Error 15: Missing arguments.\n'
  )
})

test('a missing program, no program and an invalid port are not tried again', async ({ program }) => {
  const missing = await runRadio(program, '', { LIQUIDSOAP: '/nowhere/liquidsoap' })
  expect(missing).toEqual({
    code: 78,
    stderr: expect.stringContaining('/nowhere/liquidsoap is not installed')
  })
  const silent = await runRadio(program, 'exit 3')
  expect(silent).toEqual({ code: 78, stderr: expect.stringContaining('/liquidsoap --version failed') })
  const port = await runRadio(program, '', { ICECAST_PORT: '99999' })
  expect(port).toEqual({ code: 78, stderr: expect.stringContaining('ICECAST_PORT must be a number') })
})

test('the admin key may be in a file', async ({ program }) => {
  const folder = await scratchFolder()
  const file = join(folder, 'key')
  await writeFile(file, `${adminKey}\n`)
  // The setup is reached, and with it the script.
  const script = `case "$1" in --version) echo 'Liquidsoap 2.1.3';; *) echo no; exit 1;; esac`
  const { stderr } = await runRadio(program, script, { ADMIN_API_KEY: '', ADMIN_API_KEY_FILE: file })
  expect(stderr).toContain('Liquidsoap refuses')
  const both = await runRadio(program, script, { ADMIN_API_KEY_FILE: file })
  expect(both.stderr).toContain('ADMIN_API_KEY_FILE is set, and so is ADMIN_API_KEY')
})
