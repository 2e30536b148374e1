import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Browser, Page } from 'playwright-core'

import { drawCover } from './drawn-covers.ts'

const folder = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))

export const devices = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desktop: { viewport: { width: 1280, height: 800 } }
} as const

/** The devices and color schemes of the screenshots. */
export const sights = (['phone', 'desktop'] as const).flatMap(device =>
  (['light', 'dark'] as const).map(scheme => ({ device, scheme }))
)

/** Opens a page with generated covers. */
export async function openPictured(
  browser: Browser,
  { device, scheme }: (typeof sights)[number]
): Promise<Page> {
  const context = await browser.newContext({
    ...devices[device],
    colorScheme: scheme,
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

/** Makes the window as high as the page, to a limit; twice, because newly visible elements may load more. */
export async function showWhole(page: Page, maxHeight = 6_000): Promise<void> {
  for (let looks = 0; looks < 2; looks++) {
    await page.waitForLoadState('networkidle')
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    const { width = 0 } = page.viewportSize() ?? {}
    await page.setViewportSize({ width, height: Math.min(height, maxHeight) })
  }
  await page.waitForLoadState('networkidle')
}

/** Saves a screenshot of the window as WebP, which takes a third of the size of PNG. */
export async function savePicture(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready')
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 88 })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
}
