import { brotliCompressSync } from 'node:zlib'

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { aPlay } from '../support/builders.ts'
import { isolatedTest as base } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { isDeep } from '../support/tier.ts'
import { startWebServer } from '../support/web-server.ts'

/** The receivers of the web hooks are on this machine. */
const test = base.extend('serverVariables', { scope: 'file' }, async () => ({
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
}))

const nasty = `<img src=x onerror="document.title='pwned'"> & "quotes" 'n' 👩‍🚀 </script><b>bold</b>`

async function signIn(page: Page, baseUrl: string, key = adminKey): Promise<void> {
  await page.goto(baseUrl)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Use an API key' }).click()
  await dialog.getByLabel('API key').fill(key)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
}

/** Starts a station and opens its page, signed in. */
async function openStation(page: Page, program: Program, section = '') {
  const station = await startPlaying(program, { queueLength: 5 })
  const name: string = station.document.station.shortcode
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  await page.goto(`${program.baseUrl}/#/station/${name}${section}`)
  return { ...station, name, path: `/api/station/${station.id}` }
}

const within5s = { timeout: 5_000 }

const titlesIn = (page: Page) => page.locator('.queue-row .row-title').allTextContents()

/** The titles in the queue, from the API. */
const queued = async ({ ask }: Program, path: string): Promise<string[]> =>
  (await ask('GET', `${path}/queue`)).body.map((row: JsonBody) => row.song.title)

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('the first page follows the public stations, without layout shifts, in less than 110 KB', async ({
    stage,
    openPage
  }) => {
    const one = await stage.put({ profile: { name: 'Harbour FM' } })
    await stage.put({ profile: { name: 'Archive', isPublic: true }, shown: null })
    await stage.put({ profile: { name: 'Back Room', isPublic: false } })
    const page = await openPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'no-preference' })
    await page.addInitScript(`
      window.moved = 0
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value
      }).observe({ type: 'layout-shift', buffered: true })`)
    await page.goto(stage.baseUrl, { waitUntil: 'networkidle' })
    await page.getByRole('heading', { name: '1 of 2 stations are on the air' }).waitFor()
    const card = page.locator('.card', { hasText: 'Harbour FM' })
    await card.getByText('Paper Lanterns').waitFor()
    expect(await page.locator('.card-station').allTextContents()).toEqual(['Harbour FM', 'Archive'])
    expect(await card.getByRole('link').getAttribute('href')).toBe(`public/${one.shortName}`)
    const files = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(each => each.name).filter(each => /assets/.test(each))`
    )
    expect(files.some(url => url.endsWith('.css'))).toBe(true)
    // Fonts are compressed already.
    const sizes = files.map(async url => {
      const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
      return url.endsWith('.woff2') ? bytes.length : brotliCompressSync(bytes).length
    })
    const size = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
    expect(size).toBeLessThan(110 * 1024)

    const startedMs = Date.now()
    await one.play('Night Ferry')
    await card.getByText('Night Ferry').waitFor()
    if (isDeep) expect(Date.now() - startedMs).toBeLessThan(2_000)
    await one.change({ listeners: { ...one.state().listeners, total: 1_234 } })
    await card.getByText('1,234 listeners').waitFor()
    expect(await page.evaluate('window.moved')).toBeLessThan(0.01)

    // A state that the server reports as stale is shown as stale, even if the list is current.
    const { shown } = one.state()
    await one.change({
      current: { shId: shown?.shId ?? 0, dueAtMs: Date.now() - 60_000, isVisible: true }
    })
    await card.locator('[data-kind=warning]').first().waitFor({ timeout: 5_000 })
    await one.play('Pilot Boat')
    await card.locator('.eyebrow[data-kind=plain]').waitFor({ timeout: 5_000 })

    // The quick tier restarts a server in the tests of the player, which uses the same client.
    if (!isDeep) return
    await stage.restart('SIGKILL', async () => {
      await card.locator('[data-kind=warning]').waitFor({ timeout: 30_000 })
    })
    await card.locator('.eyebrow[data-kind=plain]').waitFor({ timeout: 30_000 })
  }, 90_000)

  test.runIf(isDeep)(
    'without WebSocket the elapsed time of listed songs advances, unless the duration is unknown',
    async ({ stage, openPage }) => {
      const startedAtMs = Date.now() - 20_000
      const known = await stage.put({ shown: aPlay({ startedAtMs }) })
      const unknown = await stage.put({ shown: aPlay({ startedAtMs, durationMs: 0 }) })
      const page = await openPage()
      await page.routeWebSocket(/.*/, socket => void socket.close())
      await page.goto(stage.baseUrl)
      const cardOf = ({ shortName }: { shortName: string }) =>
        page.locator('.card').filter({ has: page.locator(`a[href="public/${shortName}"]`) })
      const times = cardOf(known).locator('.times')
      await times.filter({ hasText: /0:2[3-6]/ }).waitFor({ timeout: 10_000 })
      await times.filter({ hasText: /0:2[7-9]/ }).waitFor({ timeout: 5_000 })
      expect(await cardOf(unknown).textContent()).not.toContain('0:00')
    }
  )

  test.runIf(isDeep)(
    'a page that becomes visible reads again, even if the clock was set back',
    async ({ stage, openPage }) => {
      const page = await openPage()
      await page.clock.install()
      await page.goto(stage.baseUrl)
      await page.locator('.topbar').waitFor()
      let reads = 0
      page.on('request', request => {
        if (request.url().endsWith('/api/health/ready')) reads++
      })
      const show = async (isHidden: boolean) =>
        page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
      await show(true)
      await page.clock.setSystemTime(Date.now() - 3_600_000)
      // The next read falls due within five seconds, while the page is hidden.
      await page.clock.runFor(6_000)
      const before = reads
      await show(false)
      await expect.poll(() => reads, within5s).toBeGreaterThan(before)
    }
  )

  test.runIf(isDeep)(
    'without scripts the page lists the stations with links and current songs',
    async ({ stage, openPage }) => {
      const station = await stage.put({ profile: { name: nasty } })
      const page = await openPage({ javaScriptEnabled: false })
      await page.goto(stage.baseUrl)
      const card = page
        .locator('.card')
        .filter({ has: page.locator(`a[href="public/${station.shortName}"]`) })
      expect(await card.locator('a').textContent()).toBe(nasty)
      expect(await card.locator('.card-title').textContent()).toBe('Paper Lanterns')
    }
  )

  test.runIf(isDeep)(
    'a key is checked, kept for the tab, and never part of a URL',
    async ({ program, openPage }) => {
      const station = await startPlaying(program)
      await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { is_public: false } })
      const page = await openPage()
      const addresses: string[] = []
      page.on('request', request => addresses.push(request.url(), request.postData() ?? ''))
      page.on('websocket', socket => addresses.push(socket.url()))
      await signIn(page, program.baseUrl, '0123456789abcdef:ffffffffffffffffffffffffffffffff')
      await page.getByRole('alert').filter({ hasText: 'This API key is not valid.' }).waitFor()
      await page.getByLabel('API key').fill(adminKey)
      await page.keyboard.press('Enter')
      await page.locator('spark-line .chart').first().waitFor()
      // The private station is listed now, with its cover.
      await page.getByRole('link', { name: station.document.station.name }).click()
      await page.getByRole('heading', { name: station.document.station.name }).waitFor()
      await page.locator('.on-air img[src^="blob:"]').waitFor({ state: 'attached' })
      await page.reload()
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      expect(await page.evaluate('localStorage.length')).toBe(0)
      expect(await page.context().cookies()).toEqual([])
      const other = await page.context().newPage()
      await other.goto(program.baseUrl)
      await other.getByRole('button', { name: 'Sign in' }).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      expect(addresses.filter(each => decodeURIComponent(each).includes(adminKey.slice(17)))).toEqual([])
    }
  )

  test('an operator skips a song after confirmation', async ({ program, openPage }) => {
    const page = await openPage()
    const station = await openStation(page, program)
    const before = station.document.now_playing.song.title
    const title = page.locator('.on-air-title')
    await title.filter({ hasText: before }).waitFor()
    const next: string = station.document.playing_next.song.title
    await page.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Skip' }).click()
    // An exact match: "Title 10" contains "Title 1".
    await title.filter({ hasText: new RegExp(`^\\s*${next}\\s*$`) }).waitFor({ timeout: 5_000 })
    await page.getByRole('cell', { name: next }).first().waitFor()
    const { body } = await program.ask('GET', `${station.path}/history`)
    expect(body.map((play: JsonBody) => play.song.title)).toEqual([next, before])
  })

  test.runIf(isDeep)(
    'the confirmation of a skip closes when the song ends, and nothing is skipped',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { path, document } = await openStation(page, program)
      const next: string = document.playing_next.song.title
      const skips: (string | null)[] = []
      page.on('request', request => {
        if (request.url().endsWith('/backend/skip')) skips.push(request.postData())
      })
      await page.getByRole('button', { name: 'Skip' }).click()
      await page.getByRole('dialog').waitFor()
      await program.ask('POST', `${path}/backend/skip`)
      await page.locator('.on-air-title', { hasText: next }).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByText('Another song has started.').waitFor()
      expect(skips).toEqual([])
      await page.getByRole('button', { name: 'Skip' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Skip' }).click()
      await expect.poll(() => skips, within5s).toHaveLength(1)
      const { body } = await program.ask('GET', `${path}/history`)
      expect(body.map((play: JsonBody) => play.sh_id)).toContain(JSON.parse(skips[0] ?? '').sh_id)
    }
  )

  test.runIf(isDeep)(
    'the queue shows reasons and is reordered by keyboard and by dragging',
    async ({ program, openPage }) => {
      const page = await openPage({ viewport: { width: 1280, height: 1_400 } })
      const { path } = await openStation(page, program)
      await expect.poll(() => titlesIn(page), within5s).toHaveLength(5)
      const [first = '', second = '', ...others] = await titlesIn(page)
      expect([first, second, ...others]).toEqual(await queued(program, path))
      await page.locator('.queue-row').first().locator('summary').click()
      await page.getByText('Picked from “Rotation”.').first().waitFor()

      const grip = page.getByRole('button', { name: new RegExp(`^Move “${first}”`) })
      await grip.press('ArrowDown')
      await grip.press('End')
      await expect.poll(() => queued(program, path), within5s).toEqual([second, ...others, first])
      await page.locator(`:focus[aria-label="Move “${first}”, position 5 of 5"]`).waitFor()
      await page.getByText(`${first}: position 5 of 5`).waitFor({ state: 'attached' })

      const from = await grip.boundingBox()
      const to = await page.locator('.queue-row').first().boundingBox()
      if (!from || !to) throw new Error('the rows are not visible')
      await page.mouse.move(from.x + 10, from.y + 10)
      await page.mouse.down()
      await page.mouse.move(from.x + 10, to.y + 40, { steps: 8 })
      await page.mouse.move(from.x + 10, to.y + 4, { steps: 4 })
      await page.mouse.up()
      await expect.poll(() => queued(program, path), within5s).toEqual([first, second, ...others])
      await expect.poll(() => titlesIn(page), within5s).toEqual([first, second, ...others])
    }
  )

  test.runIf(isDeep)(
    'a song is moved to the end of a queue that is longer than the page shows',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { id, path } = await openStation(page, program)
      const [song] = await program.sql`select id from media where station_id = ${id} limit 1`
      const added = await program.ask('POST', `${path}/queue`, {
        body: { media_ids: Array.from({ length: 100 }, () => song?.['id']) }
      })
      expect(added.status).toBe(200)
      const first = page.locator('.queue-row').first()
      const grip = first.getByRole('button', { name: /position 1 of 1\d\d$/ })
      await grip.waitFor({ timeout: 10_000 })
      const moved = await grip.getAttribute('data-id')
      await grip.press('End')
      const lastLink = async () =>
        (await program.ask('GET', `${path}/queue?per_page=0`)).body.rows.at(-1).links.self
      await expect.poll(lastLink, within5s).toMatch(new RegExp(`/${moved}$`))
    }
  )

  test.runIf(isDeep)(
    'a web hook is tested, delivers, fails and is disabled',
    async ({ program, openPage }) => {
      await using receiver = await startWebServer()
      const page = await openPage()
      const { path } = await openStation(page, program, '/hooks')
      const made = await program.ask('POST', `${path}/webhooks`, {
        body: {
          type: 'generic',
          name: nasty,
          config: { webhook_url: `${receiver.url}/hook` },
          triggers: ['song_changed']
        }
      })
      expect(made.status).toBe(200)
      await page.reload()
      const hook = page.locator('.hook').filter({ has: page.getByRole('heading', { name: nasty }) })
      await hook.getByText('There are no deliveries yet.').waitFor()
      receiver.respondWith((_, response) => void response.writeHead(500).end(nasty))
      await hook.getByRole('button', { name: 'Send a test' }).click()
      await hook.getByText('The server responded with 500.').waitFor()
      await hook.locator('pre', { hasText: nasty }).first().waitFor()
      receiver.respondWith('welcome')
      await hook.getByRole('button', { name: 'Send a test' }).click()
      await hook.getByText('The message was delivered.').waitFor()
      await program.ask('POST', `${path}/backend/skip`)
      await hook.getByRole('row', { name: /Delivered 200/ }).waitFor({ timeout: 20_000 })
      await hook.getByText('Working').waitFor()
      receiver.respondWith((_, response) => void response.writeHead(503).end())
      await program.ask('POST', `${path}/backend/skip`)
      await hook.getByRole('row', { name: /Failed, retrying 503/ }).waitFor({ timeout: 20_000 })
      await hook
        .locator('hook-failure')
        .getByText('The server responded with 503.')
        .waitFor({ timeout: 10_000 })
      await hook.getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await hook.getByRole('button', { name: 'Enable' }).waitFor()
      await hook.getByText('Disabled').waitFor()
      expect(await page.locator('img[src=x], b').count()).toBe(0)
    },
    60_000
  )

  test.runIf(isDeep)(
    'a key gains only its own permissions when a private station becomes public',
    async ({ program, openPage }) => {
      const { id, document } = await startPlaying(program)
      await program.ask('PUT', `/api/admin/station/${id}`, { body: { is_public: false } })
      const made = await program.ask('POST', '/api/v1/main/api-keys', {
        body: { name: 'Unrelated', permissions: ['administer custom fields'] }
      })
      const page = await openPage()
      const permissionsRead = page.waitForResponse(/account\/permissions$/)
      await signIn(page, program.baseUrl, made.body.key)
      await page.goto(`${program.baseUrl}/#/station/${document.station.shortcode}`)
      expect((await permissionsRead).status()).toBe(200)
      await program.ask('PUT', `/api/admin/station/${id}`, { body: { is_public: true } })
      await page.locator('.tabs a').first().waitFor()
      expect(await page.locator('.tabs a').allTextContents()).toEqual(['Now'])
      expect(await page.getByRole('button', { name: /Skip/ }).count()).toBe(0)
    }
  )

  test('the page offers only what the key permits, and signs out when the key is revoked', async ({
    program,
    openPage
  }) => {
    const station = await startPlaying(program)
    const name: string = station.document.station.shortcode
    const keys = '/api/v1/main/api-keys'
    const { body } = await program.ask('POST', keys, {
      body: { name: 'Viewer', permissions: ['view station management'] }
    })
    const page = await openPage()
    const refused: string[] = []
    page.on('response', response => {
      if (response.status() === 403) refused.push(response.url())
    })
    await signIn(page, program.baseUrl, body.key)
    await page.locator('.tabs a').first().waitFor()
    expect(await page.locator('.tabs a').allTextContents()).toEqual(['Stations', 'News', 'Account'])
    await page.goto(`${program.baseUrl}/#/station/${name}`)
    await page.locator('.queue-row').first().waitFor()
    expect(await page.locator('.tabs a').allTextContents()).toEqual([
      'Now',
      'Playlists',
      'Schedule',
      'Queue',
      'Mounts'
    ])
    expect(await page.getByRole('heading', { name: 'History' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /Skip|Move|Remove/ }).count()).toBe(0)
    const texts = {
      schedule: 'What would play',
      hooks: 'You do not have permission to view this.',
      x: 'Page not found'
    }
    for (const [section, text] of Object.entries(texts)) {
      await page.goto(`${program.baseUrl}/#/station/${name}/${section}`)
      await page.getByText(text).first().waitFor()
    }
    await page.getByRole('link', { name: 'All stations' }).click()
    await page.locator('.card').first().waitFor()
    expect(refused).toEqual([])
    await page.goto(`${program.baseUrl}/#/station/${name}`)
    await expect.poll(() => page.title(), within5s).toBe(`${station.document.station.name} · Cuewire`)
    await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { name: 'Renamed' } })
    await expect.poll(() => page.title(), within5s).toBe('Renamed · Cuewire')
    await program.ask('POST', `${keys}/revoke/${body.api_key.id}`)
    await page.getByRole('link', { name: 'Schedule' }).click()
    await page.getByText('The API key is no longer valid. Sign in again.').waitFor({ timeout: 10_000 })
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('a download notices that the key is no longer valid', async ({ program, openPage }) => {
    const page = await openPage()
    await openStation(page, program, '/reports')
    // Only the download is refused, so that no other request notices it.
    const refusal = { code: 403, type: 'NotLoggedInException', message: 'Access denied.' }
    await page.route(/format=csv/, route => route.fulfill({ status: 403, json: refusal }))
    await page.locator('play-history').getByRole('button', { name: 'Download CSV' }).click()
    await page.getByText('The API key is no longer valid. Sign in again.').waitFor(within5s)
  })

  test.runIf(isDeep)('12-hour times with weekdays fit into their columns', async ({ program, openPage }) => {
    const page = await openPage({ locale: 'en-US' })
    const { id, path } = await openStation(page, program)
    await program.ask('POST', `${path}/backend/skip`)
    await program.sql`update song_history set started_at_ms = started_at_ms - 86400000 where station_id = ${id}
      and id = (select min(id) from song_history where station_id = ${id})`
    const late = { start_time: 2200, end_time: 600, days: [] }
    await program.ask('POST', `${path}/playlists`, { body: { name: 'Overnight', schedule_items: [late] } })
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await page.reload()
      await page.locator('.queue-row').first().waitFor()
      await page.getByRole('cell', { name: /^\w{3},? \d+:\d\d\s[AP]M$/ }).waitFor()
      const crowded = await page.evaluate(`[...document.querySelectorAll('.queue-row')].filter(row =>
        row.querySelector('.row-time').getBoundingClientRect().right >
          row.querySelector('.row-text').getBoundingClientRect().left).length`)
      const hidden = await page.evaluate(
        `[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth).length`
      )
      expect([width, crowded, hidden]).toEqual([width, 0, 0])
    }
    await page.goto(`${page.url()}/schedule`)
    await page.getByText('10:00 PM–6:00 AM').first().waitFor()
    expect(await page.title()).toContain('Station')
  })

  test.runIf(isDeep)(
    'a listener chart appears even if its first read failed',
    async ({ program, openPage }) => {
      const { id, document } = await startPlaying(program)
      const page = await openPage()
      await page.route(`**/station/${id}/listeners/series*`, route => route.abort(), { times: 1 })
      await signIn(page, program.baseUrl)
      const link = page.locator(`a[href*="${document.station.shortcode}"]`)
      const card = page.locator('.card').filter({ has: link })
      const chart = card.locator('spark-line')
      // Cards of other tests may be above it, and only charts near the viewport are read.
      await chart.scrollIntoViewIfNeeded()
      await chart.locator('canvas').waitFor({ timeout: 20_000 })
    }
  )

  test.runIf(isDeep)(
    'notifications are expanded, paged and marked as read',
    async ({ program, openPage }) => {
      for (let index = 1; index <= 22; index++)
        await program.ask('POST', '/api/v1/main/notifications', {
          body: { title: `News ${index}`, body: 'A long story. '.repeat(50), type: 'info' }
        })
      const page = await openPage()
      await signIn(page, program.baseUrl)
      await page.getByRole('link', { name: 'System', exact: true }).first().click()
      const rows = page.locator('.notification')
      const newest = rows.filter({ hasText: 'News 22' })
      await newest.getByRole('button', { name: 'More' }).click()
      await page.locator('.notification:not([data-cut])').waitFor()
      await page.getByRole('button', { name: 'Show older' }).click()
      await rows.filter({ hasText: /News 1[^0-9]/ }).waitFor()
      await page.getByRole('button', { name: 'Mark all as read' }).click()
      await page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' })
      const { body } = await program.ask('GET', '/api/v1/main/notifications?is_read=false&per_page=1')
      expect(body.total).toBe(0)
    }
  )

  test.runIf(isDeep)(
    'late workers and failing stores are reported in every view',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { name } = await openStation(page, program)
      await page.locator('.queue-row').first().waitFor()
      const late = { workers: 1, waiting: 0, active: 0, delayed: 3, overdue: 2, late_ms: 11_200 }
      await page.route('**/api/queues', route =>
        route.fulfill({ json: { queues: [{ name: 'advance', ...late }] } })
      )
      const banner = page.locator('.status-text')
      await banner.getByText('Workers are 12 s behind: songs change late.').waitFor({ timeout: 10_000 })
      await page.goto(`${program.baseUrl}/#/system`)
      await page.getByRole('row', { name: /Song changes .*12 s behind 2 1/ }).waitFor()
      await page.unroute('**/api/queues')
      await banner.waitFor({ state: 'detached', timeout: 10_000 })
      const old = { live_state: 'stale', postgres: 'up', redis: 'down' }
      await page.route('**/api/health', route => route.fulfill({ json: { status: 'error', ...old } }))
      await page.goto(`${program.baseUrl}/#/station/${name}/schedule`)
      await banner.getByText('Redis is not responding').waitFor({ timeout: 10_000 })
      await page.route('**/api/health/ready', route => route.fulfill({ json: { live_state: 'stale' } }))
      await page.getByRole('button', { name: 'Sign out' }).click()
      await banner.getByText('The server receives no updates of the stations').waitFor()
    },
    60_000
  )

  test.runIf(isDeep)(
    'every panel shows that the server does not respond, until it responds again',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { document } = await openStation(page, program)
      await expect.poll(async () => page.title()).toContain(document.station.name)
      const history = page.locator('.panel', { hasText: 'History' })
      await history.locator('.row-title').first().waitFor()
      await page.locator('.queue-row').first().waitFor()
      const banner = page.locator('.status-banner')
      program.server.kill('SIGSTOP')
      try {
        await banner.getByText('The server cannot be reached.').waitFor({ timeout: 20_000 })
        await history.getByText('Last updated').waitFor({ timeout: 5_000 })
        await page.locator('.view[data-old]').waitFor()
        expect(await page.getByRole('button', { name: 'Skip' }).isDisabled()).toBe(true)
      } finally {
        program.server.kill('SIGCONT')
      }
      await page.locator('.status-text').waitFor({ state: 'detached', timeout: 20_000 })
      const troubles = page.locator('.panel .trouble')
      await expect.poll(() => troubles.count(), { timeout: 20_000 }).toBe(0)
    },
    90_000
  )
})
