import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { pino } from 'pino'
import { expect, test } from 'vitest'

import { openSystemdNotifier } from '../../../../src/platform/process/systemd.ts'
import { openTempFolder } from '../../../support/temp-folder.ts'
import { waitFor } from '../../../support/wait.ts'

/** A `systemd-notify` that writes its socket and arguments into a file, and the environment of a unit. */
async function openUnit(variables: NodeJS.ProcessEnv = {}) {
  const folder = await openTempFolder()
  const file = join(folder.path, 'messages')
  const program = join(folder.path, 'systemd-notify')
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>${file}\n`)
  chmodSync(program, 0o755)
  const lines: { msg: string }[] = []
  const log = pino({ level: 'warn' }, { write: text => void lines.push(JSON.parse(text)) })
  const env: NodeJS.ProcessEnv = {
    PATH: `${folder.path}:/bin:/usr/bin`,
    NOTIFY_SOCKET: '/run/notify',
    ...variables
  }
  return {
    env,
    lines,
    notifier: openSystemdNotifier(env, log),
    messages: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]()
  }
}

const soon = { deadlineMs: 5_000, what: 'messages' }

test('systemd learns when the process is ready, that its event loop works, and when it stops', async () => {
  await using unit = await openUnit({ WATCHDOG_USEC: '300000', WATCHDOG_PID: String(process.pid) })
  const { notifier, messages } = unit
  notifier.ready()
  await waitFor(() => messages().length >= 3, soon)
  expect(messages().slice(0, 3)).toEqual([
    '/run/notify READY=1',
    '/run/notify WATCHDOG=1',
    '/run/notify WATCHDOG=1'
  ])
  notifier.stopping()
  await waitFor(() => messages().at(-1) === '/run/notify STOPPING=1', soon)
})

test('an event loop that stands still sends nothing', async () => {
  await using unit = await openUnit({ WATCHDOG_USEC: '300000' })
  unit.notifier.ready()
  await waitFor(() => unit.messages().length >= 2, soon)
  const before = unit.messages().length
  for (const endsAt = performance.now() + 1_000; performance.now() < endsAt;) Math.random()
  // At most one that was on its way.
  expect(unit.messages().length).toBeLessThanOrEqual(before + 1)
  unit.notifier.stopping()
})

test('child processes do not send for this one, and a watchdog of another process is not fed', async () => {
  await using unit = await openUnit({ WATCHDOG_USEC: '30000', WATCHDOG_PID: '1' })
  expect(Object.keys(unit.env)).toEqual(['PATH'])
  unit.notifier.ready()
  await waitFor(() => unit.messages().length >= 1, soon)
  unit.notifier.stopping()
  await waitFor(() => unit.messages().length >= 2, soon)
  expect(unit.messages()).toEqual(['/run/notify READY=1', '/run/notify STOPPING=1'])
})

test('nothing is sent without systemd, and a missing program is logged once', async () => {
  await using without = await openUnit({ NOTIFY_SOCKET: '', WATCHDOG_USEC: '30000' })
  await using missing = await openUnit({ PATH: '/nowhere', WATCHDOG_USEC: '30000' })
  without.notifier.ready()
  missing.notifier.ready()
  await waitFor(() => missing.lines.length > 0, soon)
  missing.notifier.stopping()
  expect(missing.lines.map(({ msg }) => msg)).toEqual(['systemd-notify failed'])
  expect(without.messages()).toEqual([])
})
