import type { RequestListener } from 'node:http'

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import type { StationProfile } from '../../src/model/station/state.ts'
import { widgetHeights } from '../../src/pages/widget-code.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { aMount, aPlay, aSong } from '../support/builders.ts'
import { test as base } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import type { OpenPageOptions } from '../support/open-page.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startAudioServer, startWebServer } from '../support/web-server.ts'

interface PlayerOptions extends OpenPageOptions {
  readonly profile?: Partial<StationProfile>
  /** What follows the station in the address. */
  readonly rest?: string
}

const test = base.extend(
  'openPlayer',
  async ({ stage, openPage }) =>
    async ({ profile = {}, rest = '', ...options }: PlayerOptions = {}) => {
      const station = await stage.put({ profile })
      const page = await openPage(options)
      await page.goto(`${stage.baseUrl}/public/${station.shortName}${rest}`)
      return { station, page }
    }
)

const listen = async (page: Page) => {
  await page.getByRole('button', { name: 'Listen' }).click()
  await page.locator('.sound-text', { hasText: 'Listening' }).waitFor({ timeout: 10_000 })
}

describe.skipIf(whyWithout('chromium') !== null)('the player in Chromium', () => {
  test.runIf(isDeep)(
    'the longest texts fit into frames of the documented size and into a narrow window',
    async ({ stage, openPage }) => {
      const song = aSong({ title: 'W'.repeat(200), artist: 'W'.repeat(200), album: 'W'.repeat(200) })
      const play = aPlay({ song })
      const days = 86_400_000
      const history = [1, 2, 3, 4].map(shId => ({ ...play, shId, startedAtMs: Date.now() - shId * days }))
      const station = await stage.put({
        profile: { name: 'W'.repeat(100), mounts: [aMount(1)] },
        live: { streamerName: 'W'.repeat(80), startedAtMs: Date.now(), art: '' },
        shown: play,
        history,
        next: { ...play, cuedAtMs: Date.now(), playsAtMs: Date.now() + 2 * days, isRequest: true }
      })
      const page = await openPage({ locale: 'en-US' })
      const sizeOf = async () =>
        page.evaluate<readonly [number, number]>(
          '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'
        )
      const sizes = Object.entries(widgetHeights)
      for (const [size, height] of sized({ quick: sizes.slice(0, 1), deep: sizes })) {
        // The border of the frame is one pixel on each side.
        await page.setViewportSize({ width: 382, height: height - 2 })
        await page.goto(`${stage.baseUrl}/public/${station.shortName}/embed?size=${size}`)
        await page.locator('[part=title]').waitFor()
        expect([size, ...(await sizeOf())]).toEqual([size, 382, height - 2])
      }
      await page.setViewportSize({ width: 320, height: 800 })
      for (const rest of sized({ quick: [''], deep: ['', '/widgets'] })) {
        await page.goto(`${stage.baseUrl}/public/${station.shortName}${rest}`)
        await page.locator('.controls, [part=rows]').waitFor()
        const [width] = await sizeOf()
        expect([rest, width]).toEqual([rest, 320])
      }
    }
  )

  test('the code of a frame fits a phone', async ({ stage, openPage }) => {
    await using website = await startWebServer()
    const station = await stage.put()
    const page = await openPage({ viewport: { width: 390, height: 844 } })
    await page.goto(`${stage.baseUrl}/public/${station.shortName}/widgets`)
    const code = (await page.locator('code, pre').allTextContents()).find(text => text.startsWith('<iframe'))
    website.respondWith((_, response) => {
      const head = '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
      response
        .setHeader('Content-Type', 'text/html; charset=utf-8')
        .end(`<!doctype html>${head}<h1>Our radio</h1>${code}<p>Text`)
    })
    await page.goto(website.url)
    await page.frameLocator('iframe').locator('[part=title]').waitFor()
    const widths = await page.evaluate<number[]>(
      `[document.documentElement.scrollWidth, document.querySelector('iframe').getBoundingClientRect().right]`
    )
    expect(widths).toEqual([390, 382])
    const inner = page.frames().find(frame => frame.url().includes('/embed'))
    expect(await inner?.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  })

  test.runIf(isDeep)('a widget with invalid attributes shows what is wrong', async ({ openPlayer }) => {
    const { page } = await openPlayer({ rest: '/embed' })
    for (const [attribute, value, text] of [
      ['server', 'nowhere', 'The attribute server is not a URL'],
      ['station', '', 'The attribute station is missing']
    ] as const) {
      await page.evaluate(
        `document.querySelector('cuewire-now-playing').setAttribute('${attribute}', '${value}')`
      )
      await page.locator('p.status', { hasText: text }).waitFor({ timeout: 2_000 })
    }
  })

  test.runIf(isDeep)(
    'when a station disappears, its stream can be stopped and the media session is cleared',
    async ({ openPlayer }) => {
      await using streams = await startAudioServer()
      const mounts = [aMount(1, { customUrl: `${streams.url}/1.mp3` })]
      const { station, page } = await openPlayer({ profile: { mounts } })
      await listen(page)
      expect(await page.evaluate('navigator.mediaSession.playbackState')).toBe('playing')
      const { profile } = station.state()
      await station.change({ profile: { ...profile, isPublic: false } })
      await page.locator('.eyebrow', { hasText: 'No such station' }).waitFor({ timeout: 5_000 })
      expect(await page.evaluate('navigator.mediaSession.metadata')).toBeNull()
      expect([await page.title(), await page.locator('h1').textContent()]).toEqual([
        'Harbour FM',
        'Harbour FM'
      ])
      expect(await page.locator('.cover').count()).toBe(0)
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.locator('.controls').waitFor({ state: 'detached' })
      expect(await page.evaluate('navigator.mediaSession.playbackState')).toBe('none')
    }
  )

  test.runIf(isDeep)(
    'the player comes back by itself after an outage of two minutes, at a new address too',
    { timeout: 480_000 },
    async ({ openPlayer }) => {
      await using streams = await startAudioServer()
      const mountAt = (path: string) => aMount(1, { customUrl: `${streams.url}/${path}` })
      const { station, page } = await openPlayer({ profile: { mounts: [mountAt('one.mp3')] } })
      const text = page.locator('.sound-text')
      // Ten seconds, after which the stream ends as when the server is restarted.
      const audio = mp3({}, 400)
      const play: RequestListener = (_, response) =>
        void response.setHeader('Content-Type', 'audio/mpeg').end(audio)
      streams.respondWith(play)
      await listen(page)
      const failing: readonly RequestListener[] = [
        (_, response) => response.writeHead(502).end(),
        (_, response) => response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}'),
        // Accepts the connection and sends nothing.
        () => {}
      ]
      for (const response of failing) {
        streams.respondWith(response)
        const before = streams.asked.length
        const endMs = performance.now() + 120_000
        await text.filter({ hasText: 'Connecting' }).waitFor({ timeout: 30_000 })
        await text.filter({ hasText: 'trying again' }).waitFor({ timeout: 90_000 })
        expect(streams.asked.length - before).toBeLessThan(20)
        if (response === failing[0]) {
          // Nothing tells the player that the server is back.
          await waitFor(() => performance.now() > endMs, { deadlineMs: 130_000, what: 'two minutes' })
          streams.respondWith(play)
          await text.filter({ hasText: 'Listening' }).waitFor({ timeout: 40_000 })
          expect(streams.asked.length - before).toBeLessThan(20)
          continue
        }
        streams.respondWith(play)
        await page.evaluate(`dispatchEvent(new Event('online'))`)
        await text.filter({ hasText: 'Listening' }).waitFor({ timeout: 60_000 })
      }
      streams.respondWith((request, response) => {
        if (request.url?.startsWith('/two.mp3')) play(request, response)
        else response.writeHead(404).end()
      })
      await text.filter({ hasText: 'Connecting' }).waitFor({ timeout: 30_000 })
      const { profile } = station.state()
      await station.change({ profile: { ...profile, mounts: [mountAt('two.mp3')] } })
      await text.filter({ hasText: 'Listening' }).waitFor({ timeout: 60_000 })
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByRole('button', { name: 'Listen' }).waitFor()
    }
  )

  test('the artwork of the lock screen follows the cover, and there is nothing to listen to without a stream', async ({
    openPlayer
  }) => {
    const { station, page } = await openPlayer()
    const artwork = () => page.evaluate<string>('navigator.mediaSession.metadata?.artwork[0]?.src ?? ""')
    await expect.poll(artwork).toContain('generic_song')
    const { shown } = station.state()
    if (shown === null) throw new Error('nothing plays')
    await station.change({ shown: { ...shown, song: { ...shown.song, artId: 'abc-1' } } })
    await expect.poll(artwork).toContain('/art/abc-1.jpg')
    expect(await page.getByText(/Listen|M3U/).count()).toBe(0)
  })

  test('a state that the server reports as stale is shown as stale', async ({ openPlayer }) => {
    const { station, page } = await openPlayer()
    const { state } = station
    await station.change({
      current: { shId: state().shown?.shId ?? 0, dueAtMs: Date.now() - 60_000, isVisible: true }
    })
    await page
      .locator('.eyebrow[data-kind=warning]', { hasText: 'No update since' })
      .waitFor({ timeout: 5_000 })
    await station.play('Night Ferry')
    await page.locator('.eyebrow[data-kind=plain]').waitFor({ timeout: 5_000 })
  })

  test.runIf(isDeep)(
    'each second of a song is shown when it begins, even if timers are early and rendering is slow',
    async ({ stage, openPage }) => {
      const station = await stage.put()
      const page = await openPage()
      await page.addInitScript(() => {
        const later = globalThis.setTimeout
        const steadily = performance.now.bind(performance)
        let reads = 0
        const early = (act: () => void) => () => {
          reads = 0
          act()
        }
        Object.assign(globalThis, { setTimeout: (act: () => void, ms = 0) => later(early(act), ms - 5) })
        performance.now = () => steadily() + 10 * reads++
      })
      await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
      await page.locator('.times span').first().waitFor()
      await page.evaluate(`
      shown = []
      new MutationObserver(() => {
        const text = document.querySelector('.times span').textContent
        if (shown.at(-1)?.text !== text) shown.push({ text, atMs: Date.now() })
      }).observe(document, { subtree: true, childList: true, characterData: true })
    `)
      const { shown: play } = await station.play('Second by second')
      const beganMs = Math.floor((play?.startedAtMs ?? NaN) / 1_000) * 1_000
      await page.locator('.times', { hasText: '0:04' }).waitFor({ timeout: 10_000 })
      const seconds = await page.evaluate<{ text: string; atMs: number }[]>('shown')
      const lateMs = seconds.slice(-4).map(({ atMs }, at) => atMs - beganMs - (at + 1) * 1_000)
      expect(seconds.slice(-4).map(({ text }) => text)).toEqual(['0:01', '0:02', '0:03', '0:04'])
      // A missed second would be shown a second late.
      if (isDeep) expect(Math.max(...lateMs)).toBeLessThan(800)
    }
  )

  test.runIf(isDeep)(
    'progress stays correct when the clock of the visitor is set',
    async ({ openPlayer }) => {
      const { station, page } = await openPlayer()
      await page.locator('.eyebrow[data-kind=plain]').waitFor()
      await page.evaluate('trueNow = Date.now')
      const maxLateMs = sized({ quick: 5_000, deep: 700 })
      for (const byMs of sized({ quick: [1_300, -3_600_000], deep: [700, 1_300, -3_600_000, 3_600_000] })) {
        await page.evaluate(`Date.now = () => trueNow.call(Date) + ${byMs}`)
        await page.locator('.times', { hasText: '0:00' }).waitFor({ state: 'detached', timeout: 10_000 })
        const { shown: play } = await station.play(`Set by ${byMs}`)
        await page.locator('.title', { hasText: `Set by ${byMs}` }).waitFor()
        await page.locator('.times', { hasText: '0:02' }).waitFor({ timeout: 10_000 })
        const lateMs = Date.now() - Math.floor((play?.startedAtMs ?? NaN) / 1_000) * 1_000 - 2_000
        expect([byMs, lateMs > -100 && lateMs < maxLateMs]).toEqual([byMs, true])
        await page.locator('.eyebrow[data-kind=plain]').waitFor()
      }
    }
  )

  test.runIf(isDeep)(
    'when a station is renamed, the address of the page changes, so that it can be reloaded',
    async ({ openPlayer, stage }) => {
      const { station, page } = await openPlayer({ rest: '?theme=dark' })
      await page.locator('.title').waitFor()
      const { shortName } = stage.newName()
      await station.change({ profile: { ...station.state().profile, shortName } })
      await page.waitForURL(`${stage.baseUrl}/public/${shortName}?theme=dark`, { timeout: 5_000 })
      await page.reload()
      await page.locator('.eyebrow[data-kind=plain]').waitFor({ timeout: 5_000 })
    }
  )

  test.runIf(isDeep)(
    'for a stream that was added after the page was loaded, the player asks for a reload',
    async ({ openPlayer }) => {
      await using streams = await startAudioServer()
      // The browser reports what the policy of the page blocks as an error.
      const { station, page } = await openPlayer({ profile: { mounts: [aMount(1)] }, allowsErrors: true })
      await page.locator('.stream').waitFor()
      const { profile } = station.state()
      await station.change({
        profile: { ...profile, mounts: [aMount(1), aMount(2, { customUrl: `${streams.url}/2.mp3` })] }
      })
      await page.getByLabel('Stream').selectOption('Stream 2')
      await page.getByRole('button', { name: 'Listen' }).click()
      const text = page.locator('.sound-text')
      await text.filter({ hasText: 'Reload the page to hear this stream' }).waitFor({ timeout: 5_000 })
      await page.reload()
      await page.getByLabel('Stream').selectOption('Stream 2')
      await listen(page)
    }
  )

  test('a new song keeps the focus, a reload keeps the volume, and a broken cover is hidden', async ({
    stage,
    openPage
  }) => {
    const station = await stage.put({ profile: { mounts: [aMount(1)] } })
    const page = await openPage()
    await page.route('**/static/img/**', route => route.abort())
    await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
    await page.getByLabel('Volume').fill('0.3')
    await page.locator('.now > .cover img').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'M3U' }).focus()
    await station.change({ history: [{ ...aPlay(), shId: 1 }] })
    await page.locator('.row').waitFor({ timeout: 5_000 })
    expect(await page.evaluate('document.activeElement.textContent')).toBe('M3U')
    await page.reload()
    expect(await page.getByLabel('Volume').inputValue()).toBe('0.3')
  })
})
