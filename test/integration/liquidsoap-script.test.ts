import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { liquidsoap, whyWithout } from '../support/foreign-programs.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'

test('the script of a station requires the permission to administer stations', async ({ program }) => {
  const { body: station } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Script FM' } })
  const path = `/api/admin/station/${station.id}/liquidsoap`
  const { status, headers, body } = await program.ask('GET', path)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(body).toContain('station_name = "Script FM"')
  expect(body).toContain('send_to(mount="/radio.mp3", is_public=false, %mp3(bitrate=128))')
  expect((await program.ask('GET', path, { key: '' })).status).toBe(403)
  expect((await program.ask('GET', '/api/admin/station/999999/liquidsoap')).status).toBe(404)
})

describe.skipIf(whyWithout('liquidsoap') !== null)('Liquidsoap', () => {
  // Liquidsoap takes four seconds to load its library.
  test.runIf(isDeep)(
    'accepts the script and runs no code from names',
    { timeout: 90_000 },
    async ({ program }) => {
      const folder = await scratchFolder()
      const code = `file.write(data="x", "${join(folder, 'written')}")`
      const hostile = [`#{${code}}`, `" ^ ${code} ^ "`, `\\" ${code} #`, `\\`, '%include "x"', "' #{", '😀']
      const { body: station } = await program.ask('POST', '/api/admin/stations', {
        body: { name: 'x', description: hostile.join('\n'), crossfade: 0.25, crossfade_type: 'smart' }
      })
      await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { name: hostile[0] } })
      for (const autodj_format of ['ogg', 'aac', 'opus', 'flac']) {
        const stream = { name: `/radio.${autodj_format}`, autodj_format, autodj_bitrate: 99 }
        await program.ask('POST', `/api/station/${station.id}/hls_streams`, { body: stream })
      }
      const { body } = await program.ask('GET', `/api/admin/station/${station.id}/liquidsoap`)
      expect(body.match(/^send_to\(/gm)).toHaveLength(6)
      const script = join(folder, 'station.liq')
      await writeFile(script, body)
      const env = {
        PATH: process.env['PATH'],
        CUEWIRE_PLAYOUT_KEY: 'key',
        ICECAST_SOURCE_PASSWORD: 'password'
      }
      const asRoot = 'settings.init.allow_root.set(true)'
      await promisify(execFile)(liquidsoap, ['--check', asRoot, script], { env })
      expect(await readdir(folder)).toEqual(['station.liq'])
    }
  )
})
