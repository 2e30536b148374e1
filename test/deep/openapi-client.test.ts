import { execFile } from 'node:child_process'
import { cp, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import openapiTypes, { astToString } from 'openapi-typescript'
import { describe, expect } from 'vitest'

import { test as base } from '../support/fixtures.ts'
import { adminKey } from '../support/program.ts'
import { openTempFolder } from '../support/temp-folder.ts'

const { resolve } = createRequire(import.meta.url)
const client = fileURLToPath(new URL('../support/client', import.meta.url))
const tsc = join(dirname(resolve('typescript/package.json')), 'bin/tsc')
const tsx = resolve('tsx')

/** Runs Node.js in a folder. Returns its exit code and output. */
function run(args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: unknown; output: string }>(done => {
    execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (error, out, err) => {
      done({ code: error === null ? 0 : error.code, output: out + err })
    })
  })
}

/** A folder with the client program, the types generated from the document, and the packages. */
const test = base.extend('folder', { scope: 'file' }, async ({ program }, { onCleanup }) => {
  const folder = await openTempFolder()
  onCleanup(async () => folder[Symbol.asyncDispose]())
  await cp(client, folder.path, { recursive: true })
  await symlink(
    fileURLToPath(new URL('../../node_modules', import.meta.url)),
    join(folder.path, 'node_modules')
  )
  await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }')
  const { body } = await program.ask('GET', '/api/openapi.json', { key: '' })
  // Fields with a default are optional in a body.
  const types = await openapiTypes(body, { defaultNonNullable: false })
  await writeFile(join(folder.path, 'api.ts'), astToString(types))
  return folder.path
})

describe('a client generated from the OpenAPI document', { timeout: 120_000 }, () => {
  test('passes the type check', async ({ folder }) => {
    expect(await run([tsc, '--noEmit', '-p', '.'], folder)).toEqual({ code: 0, output: '' })
  })

  test('creates, reads, changes and deletes every resource', async ({ folder, program }) => {
    const env = { BASE_URL: program.baseUrl, API_KEY: adminKey }
    expect(await run(['--import', tsx, 'crud.ts'], folder, env)).toEqual({ code: 0, output: '' })
  })
})
