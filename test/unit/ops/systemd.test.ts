import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'

import { entries } from '../../../scripts/build.mjs'
import { parseConfig, configVariableNames } from '../../../src/config.ts'
import { systemdAnalyze, whyWithout } from '../../support/foreign-programs.ts'
import { openTempFolder } from '../../support/temp-folder.ts'

const folder = new URL('../../../ops/systemd/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const units = readdirSync(new URL('system/', folder)).filter(name => name.endsWith('.service'))

const readVariables = (name: string) =>
  Object.fromEntries(
    [...read(name).matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, key = '', value]) => [key, value])
  )

const environment = readVariables('cuewire.env')

test('the example environment is valid, and has no variable that the units set', () => {
  expect(Object.keys(environment).filter(name => !configVariableNames.includes(name))).toEqual([])
  const { DRAIN_SECONDS: drainSeconds } = parseConfig(environment)
  for (const unit of units) {
    const text = read(`system/${unit}`)
    const own = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      [...line.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name)
    )
    // A variable of an EnvironmentFile would win.
    expect(own.filter(name => name !== undefined && name in environment)).toEqual([])
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(drainSeconds + 5)
  }
})

test('the units start programs of the build', () => {
  const started = ['cuewire-server@.service', 'cuewire-workers.service'].map(unit =>
    /^ExecStart=.* dist\/(\S+)\.js$/m.exec(read(`system/${unit}`))?.at(1)
  )
  expect(started).toEqual(['src/server', 'workers/main'])
  for (const name of started) expect(entries).toContain(`${name}.ts`)
})

describe.skipIf(whyWithout('systemd') !== null)('systemd-analyze', () => {
  const instances = ['cuewire-server@0.service', 'cuewire-workers.service', 'cuewire-radio@demo.service']

  test('verify has no complaint about the units, and security finds a sandbox', async () => {
    await using copy = await openTempFolder()
    cpSync(new URL('system/', folder), copy.path, { recursive: true })
    for (const unit of units) {
      const path = join(copy.path, unit)
      // Where it is on this machine.
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('/usr/bin/node', process.execPath))
    }
    const analyze = async (...args: string[]) => {
      const { stdout, stderr } = await promisify(execFile)(systemdAnalyze, args, {
        cwd: copy.path,
        env: { SYSTEMD_UNIT_PATH: `${copy.path}:` },
        timeout: 20_000
      })
      return stdout + stderr
    }
    const output = await analyze('verify', ...instances.map(name => `./${name}`))
    // Settings that systemd before 254 does not have.
    const complaints = output
      .split('\n')
      .filter(line => /cuewire/.test(line) && !/Restart(Steps|MaxDelaySec)/.test(line))
    expect(complaints).toEqual([])
    for (const name of instances) {
      const findings = await analyze('security', '--offline=true', '--no-pager', `./${name}`)
      expect(Number(/exposure level for .*: ([\d.]+)/.exec(findings)?.[1])).toBeLessThan(3)
    }
  })
})
