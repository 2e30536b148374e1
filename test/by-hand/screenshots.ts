import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Browser, Page } from 'playwright-core'

import type { Song, StationState } from '../../src/station/state.ts'
import { startBrowser } from '../support/browser.ts'
import { aPlay, aSong } from '../support/builders.ts'
import { drawCover } from '../support/drawn-covers.ts'
import { test } from '../support/fixtures.ts'

const folder = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))

const devices = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desktop: { viewport: { width: 1280, height: 800 } }
} as const

/** What is meant for a frame is as large as one. */
const frame = { width: 384, height: 720 }

const song = (artist: string, title: string, album: string): Song =>
  aSong({ artist, title, album, artId: Buffer.from(title).toString('hex').padEnd(24, '0').slice(0, 24) })

const mount = (id: number, path: string, bitrate: number) => ({
  id,
  path,
  displayName: '',
  bitrate,
  format: 'mp3',
  hasAutodj: true,
  customUrl: '',
  isDefault: id === 1
})

/** A station in the middle of a song, with a past and a future. */
function aBusyStation(): Partial<StationState> {
  const startedAtMs = Date.now() - 97_000
  const earlier = [
    song('Mara Quist', 'Tidewater', 'Estuary'),
    song('The Low Signals', 'Night Ferry', 'Harbour Lights'),
    song('Ines Okafor', 'A Room Above the Sea', 'Rooms'),
    song('Sol Arden', 'Glass Hours', 'Glass Hours'),
    song('Halvorsen & Daughter', 'Pilot Boat', 'Salt')
  ]
  return {
    shown: aPlay({ startedAtMs, song: song('Nils Okada', 'Paper Lanterns', 'Low Water') }),
    history: earlier.map((each, index) =>
      aPlay({ shId: 4300 - index, startedAtMs: startedAtMs - (index + 1) * 231_000, song: each })
    ),
    next: {
      cuedAtMs: startedAtMs,
      playsAtMs: startedAtMs + 215_000,
      durationMs: 182_000,
      playlist: 'Daytime',
      isRequest: true,
      song: song('Wren Adeyemi', 'Slow Weather', 'Almanac')
    }
  }
}

/** Takes a picture as WebP, which is a third of a PNG. */
async function shoot(page: Page, address: string, name: string, form: string): Promise<void> {
  const answer = await page.goto(address, { waitUntil: 'networkidle' })
  if (answer?.ok() === (name === 'missing')) throw new Error(`${address} answers ${answer?.status()}`)
  await page.evaluate('document.fonts.ready')
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 88 })
  await writeFile(join(folder, `${name}-${form}.webp`), Buffer.from(data, 'base64'))
}

async function openPage(
  browser: Browser,
  device: keyof typeof devices,
  colorScheme: 'light' | 'dark'
): Promise<Page> {
  const context = await browser.newContext({
    ...devices[device],
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB'
  })
  await context.route('**/art/**', route =>
    route.fulfill({
      contentType: 'image/svg+xml',
      body: drawCover(new URL(route.request().url()).pathname.split('/').at(-1) ?? '')
    })
  )
  return context.newPage()
}

test('the pictures of all pages', async ({ stage }) => {
  await mkdir(folder, { recursive: true })
  const profile = {
    name: 'Harbour FM',
    shortName: 'harbour_fm',
    url: 'https://harbour.example.com/',
    mounts: [mount(1, '/main.mp3', 192), mount(2, '/low.mp3', 64)]
  }
  await stage.put({ ...aBusyStation(), profile })
  await stage.put({
    ...aBusyStation(),
    profile: { ...profile, shortName: 'harbour_live' },
    shown: aPlay({
      startedAtMs: Date.now() - 754_000,
      durationMs: 0,
      song: song('Sol Arden', 'Evening, with the Windows Open', '')
    }),
    live: { streamerName: 'DJ Wren', startedAtMs: Date.now() - 754_000, art: '' }
  })
  const browser = await startBrowser()
  const paths = {
    player: 'harbour_fm',
    live: 'harbour_live',
    widgets: 'harbour_fm/widgets',
    embed: 'harbour_fm/embed?size=full',
    missing: 'nobody'
  }
  for (const device of ['phone', 'desktop'] as const)
    for (const scheme of ['light', 'dark'] as const) {
      const page = await openPage(browser, device, scheme)
      for (const [name, path] of Object.entries(paths)) {
        await page.setViewportSize(name === 'embed' ? frame : devices[device].viewport)
        await shoot(page, `${stage.baseUrl}/public/${path}`, name, `${device}-${scheme}`)
      }
      await page.context().close()
    }
  await browser.close()
})
