import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { aMount, aPlay, aSong } from '../support/builders.ts'
import { test as base } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { codeIn } from '../support/marked-code.ts'
import { axeFindings, type OpenPage } from '../support/open-page.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startAudioServer, startWebServer } from '../support/web-server.ts'

const hostile = `<img src=x onerror="document.title='pwned'"> & "quotes" 'n' 👩‍🚀 </script><b>bold</b>`

/**
 * Runs in every page before its scripts. Records when each title was shown, and layout shifts. The quick tier polls,
 * because checking each frame costs more than the page.
 */
const observer = `
  window.seen = []
  window.moved = 0
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  const textsIn = root => [...root.querySelectorAll('*')].flatMap(each => each.shadowRoot ? textsIn(each.shadowRoot) : [])
    .concat([...root.querySelectorAll('.title, [part=title]')].map(each => each.textContent.trim()))
  const look = () => {
    for (const text of textsIn(document))
      if (!window.seen.some(each => each.text === text)) window.seen.push({ text, atMs: Date.now() })
    ${sized({ quick: 'setTimeout(look, 50)', deep: 'requestAnimationFrame(look)' })}
  }
  requestAnimationFrame(look)
`

const test = base.extend('openPage', async ({ openPage }): Promise<OpenPage> => async options => {
  const page = await openPage(options)
  await page.addInitScript(observer)
  return page
})

const fiveTitles = ['Night Ferry', 'Slow Tide', 'Glass Hours', 'Pilot Boat', 'Tidewater']

interface Seen {
  readonly text: string
  readonly atMs: number
}

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  const untilSeen = (page: Page, text: string, deadlineMs = 5_000) =>
    waitFor(async () => (await page.evaluate<Seen[]>('window.seen')).find(each => each.text === text), {
      deadlineMs,
      what: `the page to show ${text}`
    })

  /**
   * Plays songs and waits until each is shown. In the deep tier the median must be below the limit. The quick
   * tier runs on busy machines.
   */
  async function expectSongs(
    page: Page,
    station: { readonly play: (title: string) => Promise<unknown> },
    limitMs: number,
    titles = sized({ quick: ['Night Ferry', 'Tidewater'], deep: fiveTitles })
  ): Promise<void> {
    const tookMs: number[] = []
    for (const title of titles) {
      const startedMs = Date.now()
      await station.play(title)
      tookMs.push((await untilSeen(page, title)).atMs - startedMs)
    }
    const medianMs = tookMs.toSorted((a, b) => a - b)[Math.floor(titles.length / 2)] ?? Infinity
    if (isDeep) expect(medianMs).toBeLessThan(limitMs)
  }

  test('the player shows a song within 300 ms, without layout shifts, and loads few bytes', async ({
    stage,
    openPage
  }) => {
    const station = await stage.put()
    const page = await openPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'no-preference' })
    const requested: string[] = []
    page.on('request', request => requested.push(request.url()))
    await page.goto(`${stage.baseUrl}/public/${station.shortName}`, { waitUntil: 'networkidle' })
    await untilSeen(page, 'Paper Lanterns')
    const paths = requested.map(url => new URL(url).pathname.replace(/-[A-Z2-7]{8}\./, '.')).toSorted()
    // A headless browser does not load the icon.
    expect(paths.filter(path => path !== '/assets/icon.svg')).toEqual([
      '/assets/figtree-latin-wght-normal.woff2',
      '/assets/player-style.css',
      '/assets/player.js',
      `/public/${station.shortName}`,
      '/static/img/generic_song.jpg'
    ])
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
        .filter(each => !each.name.includes('/static/img/')).reduce((sum, each) => sum + each.transferSize, 0)`
    )
    expect(bytes).toBeLessThan(60 * 1024)

    await page.evaluate('window.moved = 0')
    const long = 'A title that is so long that it takes more than one line on any screen, and then some more'
    const others = sized({ quick: ['Tidewater'], deep: ['Glass Hours', 'Pilot Boat', 'Tidewater'] })
    await expectSongs(page, station, 300, ['Night Ferry', long, ...others])
    await station.change({ history: [], listeners: { ...station.state().listeners, total: 10 } })
    await page.evaluate('new Promise(resolve => setTimeout(resolve, 600))')
    expect(await page.evaluate('window.moved')).toBe(0)
    // A layout shift is recorded.
    await page.evaluate("document.querySelector('.cover').style.marginTop = '40px'")
    await waitFor(() => page.evaluate('window.moved'), {
      deadlineMs: 2_000,
      what: 'the layout shift to be recorded'
    })
    expect(await page.title()).toBe('Nils Okada - Tidewater · Harbour FM')
    const times = await page.locator('.times span').allTextContents()
    const secondsNow = (Date.now() - (station.state().shown?.startedAtMs ?? 0)) / 1_000
    expect(times[1]).toBe('3:35')
    expect(Math.abs(Number(times[0]?.replace('0:', '')) - secondsNow)).toBeLessThan(1.5)
  })

  test.runIf(isDeep)(
    'a page is shown as stale while the server is down, and recovers',
    async ({ stage, openPage }) => {
      const station = await stage.put()
      const page = await openPage()
      await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
      await untilSeen(page, 'Paper Lanterns')
      const warning = page.locator('.eyebrow[data-kind=warning]')
      const texts: (string | null)[] = []
      // An exception here would leave the other tests without a server.
      await stage.restart('SIGKILL', async () => {
        await warning.waitFor({ timeout: 10_000 }).catch(() => texts.push('nothing'))
        texts.push(await warning.textContent({ timeout: 100 }).catch(() => null))
        texts.push(await page.locator('[role=progressbar]').getAttribute('aria-valuetext'))
        await station.play('Meanwhile')
      })
      expect(texts).toEqual([expect.stringMatching(/^No update since \d+:\d\d, retrying$/), 'unknown'])
      await untilSeen(page, 'Meanwhile', 40_000)
      await page
        .locator('.eyebrow[data-kind=plain]')
        .waitFor({ timeout: sized({ quick: 10_000, deep: 1_000 }) })
    },
    60_000
  )

  test.runIf(isDeep)(
    'if WebSockets, or WebSockets and server-sent events, are blocked, a page still follows',
    async ({ stage, openPage }) => {
      const station = await stage.put()
      for (const blocked of [['websocket'], ['websocket', 'sse']]) {
        const page = await openPage()
        const requested: string[] = []
        page.on('request', request => requested.push(new URL(request.url()).pathname))
        await page.routeWebSocket(/.*/, socket => void socket.close())
        if (blocked.includes('sse')) await page.route('**/sse?*', route => route.abort())
        await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
        const path = blocked.includes('sse') ? '/api/nowplaying_static/' : '/api/live/nowplaying/sse'
        await waitFor(() => requested.some(each => each.startsWith(path)), {
          deadlineMs: 5_000,
          what: 'the next transport'
        })
        await untilSeen(page, station.state().shown?.song.title ?? '')
        const count = sized({ quick: 2, deep: 5 })
        const titles = Array.from({ length: count }, (_, index) => `Without ${blocked.join()} ${index}`)
        await expectSongs(page, station, 500, titles)
      }
    }
  )

  test('any title is shown as text in pages and in the widget', async ({ stage, openPage }) => {
    const station = await stage.put({ profile: { name: hostile, description: hostile } })
    await station.play(hostile)
    const page = await openPage()
    for (const rest of ['', '/embed?size=full', '/embed?size=badge', '/widgets']) {
      await page.goto(`${stage.baseUrl}/public/${station.shortName}${rest}`)
      await waitFor(
        async () => (await page.evaluate<Seen[]>('window.seen')).some(({ text }) => text.endsWith(hostile)),
        { deadlineMs: 5_000, what: `the title in ${rest}` }
      )
      const broken = page.locator('img[src=x], b')
      expect(await broken.count()).toBe(0)
      expect(await page.title()).toContain(hostile)
    }
  })

  test('the widget works on another website with a strict policy, and contacts no other server', async ({
    stage,
    openPage
  }) => {
    const station = await stage.put()
    const [example] = await codeIn('client.md', 'html')
    await using website = await startWebServer()
    const here = stage.baseUrl
    const element = (size: string) =>
      `<cuewire-now-playing station="${station.shortName}" size="${size}"></cuewire-now-playing>`
    website.respondWith((_, response) => {
      response
        .setHeader('Content-Type', 'text/html; charset=utf-8')
        .setHeader(
          'Content-Security-Policy',
          `default-src 'none'; script-src ${here}; connect-src ${here} ${here.replace('http', 'ws')}; img-src ${here} ${new URL(here).origin.replace('127.0.0.1', 'localhost')}; require-trusted-types-for 'script'; trusted-types lit-html`
        )
        .end(
          `<!doctype html><link rel="icon" href="${here}/assets/icon-AAAAAAAA.svg"><script type="module" src="${here}/widget.js"></script>${['badge', 'card', 'full'].map(element).join('')}`
        )
    })
    const page = await openPage()
    const requested: string[] = []
    const sockets: string[] = []
    page.on('request', request => requested.push(request.url()))
    page.on('websocket', socket => sockets.push(socket.url()))
    await page.goto(website.url)
    await untilSeen(page, 'Nils Okada – Paper Lanterns')
    await expectSongs(page, station, 300)
    const { port } = new URL(here)
    expect(requested.filter(url => url !== `${website.url}/` && new URL(url).port !== port)).toEqual([])
    expect(sockets).toHaveLength(1)
    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)

    // The example of the client's documentation.
    website.respondWith((_, response) => {
      const code = example?.code
        .replaceAll('https://radio.example.com', here)
        .replaceAll("'demo'", `'${station.shortName}'`)
      response
        .setHeader('Content-Type', 'text/html; charset=utf-8')
        .end(`<!doctype html><link rel="icon" href="data:,">${code}`)
    })
    await page.goto(website.url)
    await page.locator('#song', { hasText: 'Nils Okada - Tidewater' }).waitFor({ timeout: 5_000 })
  })

  test.runIf(isDeep)(
    'the button plays the stream, and another stream can be selected',
    async ({ stage, openPage }) => {
      await using streams = await startAudioServer()
      const mounts = [
        aMount(1, { customUrl: `${streams.url}/one.mp3`, isDefault: false }),
        aMount(2, { customUrl: `${streams.url}/two.mp3`, isDefault: true })
      ]
      const station = await stage.put({ profile: { mounts } })
      const page = await openPage()
      await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
      const state = page.locator('.sound-text')
      expect(await page.locator('option').allTextContents()).toEqual(['Stream 2', 'Stream 1'])
      // With the keyboard only.
      await page.getByRole('button', { name: 'Listen' }).focus()
      await page.keyboard.press('Enter')
      await state.filter({ hasText: 'Listening' }).waitFor({ timeout: 10_000 })
      expect(streams.asked.at(-1)?.path).toBe('/two.mp3')
      expect(await page.evaluate('navigator.mediaSession.metadata.title')).toBe('Paper Lanterns')
      await page.getByLabel('Stream').selectOption('Stream 1')
      await waitFor(() => streams.asked.at(-1)?.path === '/one.mp3', {
        deadlineMs: 5_000,
        what: 'the other stream'
      })
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('button', { name: 'Listen' }).waitFor()
    }
  )

  test.runIf(isDeep)('a private station and its covers are shown with a key', async ({ stage, openPage }) => {
    const song = aSong({ artId: 'a'.repeat(24) })
    const station = await stage.put({ profile: { isPublic: false }, shown: aPlay({ song }) })
    const { key } = await stage.makeKey()
    const page = await openPage()
    const requested: URL[] = []
    page.on('request', request => requested.push(new URL(request.url())))
    await page.goto(`${stage.baseUrl}/public/${station.shortName}?api_key=${key}`)
    await station.play('Night Ferry')
    await untilSeen(page, 'Night Ferry')
    const art = requested.find(({ pathname }) => pathname.includes('/art/'))
    expect(art?.searchParams.get('api_key')).toBe(key)
  })

  test.runIf(isDeep)(
    'axe finds no serious violations on any page, in light and dark',
    async ({ stage, openPage }) => {
      const song = { artist: 'Mara Quist', title: 'Tidewater' }
      const station = await stage.put()
      const [play] = [station.state().shown]
      if (play === null) throw new Error('nothing plays')
      await station.change({
        history: [{ ...play, shId: 1, song: { ...play.song, ...song } }],
        next: { ...play, cuedAtMs: Date.now(), playsAtMs: Date.now() + 60_000, isRequest: true }
      })
      const live = await stage.put({ live: { streamerName: 'DJ Wren', startedAtMs: Date.now(), art: '' } })
      const off = await stage.put({ shown: null })
      const paths = [
        station.shortName,
        live.shortName,
        off.shortName,
        `${station.shortName}/widgets`,
        `${station.shortName}/embed?size=full`,
        `${live.shortName}/embed?size=badge`,
        'nobody'
      ]
      const page = await openPage({ viewport: { width: 390, height: 844 } })
      const found: unknown[] = []
      const inBoth = paths.flatMap(path => (['light', 'dark'] as const).map(scheme => ({ path, scheme })))
      // The quick tier checks every second page, in one color scheme.
      const checks = inBoth.filter((_, index) => isDeep || index % 8 === 0 || index % 8 === 5)
      for (const { path, scheme } of checks) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        await page.goto(`${stage.baseUrl}/public/${path}`)
        await page.locator('[part=frame], .song-text, .message').first().waitFor()
        for (const finding of await axeFindings(page, ['minor'])) found.push([scheme, path, finding])
      }
      expect(found).toEqual([])
    },
    60_000
  )

  test.runIf(isDeep)(
    'after hundreds of songs a page uses no more memory than after a few',
    async ({ stage, openPage }) => {
      const station = await stage.put()
      const page = await openPage()
      await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
      const session = await page.context().newCDPSession(page)
      const playMany = async (count: number, name: string) => {
        for (let at = 0; at < count; at++) await station.play(`${name} ${at}`)
        await untilSeen(page, `${name} ${count - 1}`)
        await page.evaluate('window.seen.length = 0')
        await session.send('HeapProfiler.collectGarbage')
        const { usedSize } = await session.send('Runtime.getHeapUsage')
        const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
        return { usedSize, nodes, jsEventListeners }
      }
      const few = await playMany(sized({ quick: 20, deep: 40 }), 'Few')
      const many = await playMany(sized({ quick: 100, deep: 300 }), 'Many')
      expect(many.usedSize - few.usedSize).toBeLessThan(200 * 1024)
      expect(many.nodes - few.nodes).toBeLessThan(50)
      expect(many.jsEventListeners - few.jsEventListeners).toBeLessThan(20)
    },
    60_000
  )
})
