import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { startProgram } from '../support/program.ts'
import { openRadio, whyNoRadio } from '../support/radio.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const within = { deadlineMs: 30_000 }

describe.skipIf(whyNoRadio() !== null)(
  'operators are notified within 30 seconds, once, and when it is over',
  () => {
    test(
      'of a dead Icecast, a dead Liquidsoap and a failing web hook',
      { timeout: 300_000 },
      async ({ databaseUrl, redisUrl }) => {
        await using folder = await openTempFolder()
        const variables = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }
        await using program = await startProgram(databaseUrl, redisUrl, folder.path, variables)
        const { sql, ask } = program
        await using radio = await openRadio(program, { shortName: 'alerts', melodySeconds: 6 })
        await using receiver = await startWebServer()
        const readAlert = async (start: string) => {
          const found = await sql<{ type: string; title: string }[]>`
        select type, title from notifications where starts_with(title, ${start}) and title like '%alerts%'`
          expect(found.length).toBeLessThanOrEqual(1)
          return found[0]?.type ?? 'none'
        }
        const until = (start: string, isRight: (type: string) => boolean, what: string) =>
          waitFor(async () => isRight(await readAlert(start)), { ...within, what: `${start}: ${what}` })
        const isRaised = (type: string) => type === 'danger' || type === 'warning'
        const isResolved = (type: string) => type === 'success'
        await waitFor(
          async () => (await ask('GET', `/api/nowplaying/${radio.stationId}`)).body.is_online === true,
          { ...within, what: 'the first song' }
        )

        const server = 'A streaming server does not respond'
        await radio.icecast.kill()
        await until(server, isRaised, 'raised')
        await radio.icecast.start()
        await until(server, isResolved, 'resolved')

        const silence = 'A station went silent'
        await radio.liquidsoap.kill()
        await until(silence, isRaised, 'raised')
        await radio.liquidsoap.start()
        await until(silence, isResolved, 'resolved')

        const hook = 'A web hook fails'
        receiver.respondWith((_, response) => response.writeHead(500).end())
        const path = `/api/station/${radio.stationId}/webhooks`
        const body = {
          name: 'Bot',
          type: 'generic',
          triggers: ['song_changed'],
          config: { webhook_url: receiver.url }
        }
        const made = await ask('POST', path, { body })
        expect(made.status).toBe(200)
        await waitFor(() => receiver.asked.length > 0, { ...within, what: 'the first delivery' })
        await until(hook, isRaised, 'raised')
        receiver.respondWith('')
        const { length } = receiver.asked
        await waitFor(() => receiver.asked.length > length, { deadlineMs: 90_000, what: 'a delivery' })
        await until(hook, isResolved, 'resolved')
      }
    )
  }
)
