import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { startBrowser } from '../support/browser.ts'
import { isolatedTest as base } from '../support/fixtures.ts'
import { devices, openPictured, savePicture, showWhole, sights } from '../support/pictures.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { makeNetwork, spreadHistory } from '../support/small-network.ts'
import { startWebServer } from '../support/web-server.ts'

// The targets of the web hooks and the streaming server of the screenshots run on this machine.
const test = base.extend('serverVariables', { scope: 'file' }, async () => ({
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
}))

/** The main pages of a station, each with a heading that shows that it is loaded. */
const sections = {
  station: 'History',
  'station/playlists': 'Playlists',
  'station/schedule': 'What would play',
  'station/hooks': 'Website'
}

/** The other pages, which are shown on a desktop in light colors and on a phone in dark colors. */
const otherPages = [
  'start',
  'keys',
  'people',
  'storage',
  'fields',
  'news',
  'audit',
  'system',
  'account',
  'station/media',
  'station/queue',
  'station/reports',
  'station/streamers',
  'station/mounts',
  'station/remotes',
  'station/sftp',
  'station/settings'
]

/** Forms, with the name of their picture: of the playlist and of the song that were created first. */
async function listForms({ ask }: Program, station: string) {
  const path = `/api/station/${station}`
  const firstId = ({ body }: { body: JsonBody }) => Math.min(...body.map(({ id }: JsonBody) => id))
  const playlist = firstId(await ask('GET', `${path}/playlists`))
  const song = firstId(await ask('GET', `${path}/files`))
  const { body: roles } = await ask('GET', '/api/admin/roles')
  const { body } = await ask('POST', '/api/admin/invitations', { body: { roles: [roles[0].id] } })
  return [
    ['station-playlist', `station/${station}/playlists/${playlist}`],
    ['station-file', `station/${station}/media?file=${song}`],
    ['join', String(body.link).split('#/')[1] ?? '']
  ] as const
}

const isShownInOthers = ({ device, scheme }: (typeof sights)[number]) =>
  (device === 'desktop') === (scheme === 'light')

/**
 * Waits until a page has loaded. Of the media, all folders are shown; of the first steps, those of a station on the
 * air.
 */
async function untilShown(page: Page): Promise<void> {
  await page.locator('view-loader > :not([aria-busy])').first().waitFor()
  await expect.poll(() => page.locator('main p[aria-busy=true]').count(), { timeout: 10_000 }).toBe(0)
  await page.waitForLoadState('networkidle')
  const files = page.getByLabel('Files of all folders')
  if ((await files.count()) > 0) await files.check()
  const steps = page.locator('.start-station')
  if ((await steps.count()) > 0) {
    await steps.selectOption({ label: 'Harbour FM' })
    await page.locator('.start-steps li', { hasText: 'Go on the air' }).getByText('Done').waitFor()
  }
}

test('screenshots of the first page and of the pages for operators', async ({ program }) => {
  await using receiver = await startWebServer()
  receiver.respondWith(
    (asked, response) => void response.writeHead(asked.url === '/broken' ? 502 : 200).end('ok')
  )
  const station = await makeNetwork(program, receiver.url)
  // Creates a history and web hook deliveries.
  for (let skipped = 0; skipped < 6; skipped++)
    await program.ask('POST', `/api/station/${station}/backend/skip`)
  await spreadHistory(program, station)
  const forms = await listForms(program, station)
  const browser = await startBrowser()
  for (const sight of sights) {
    const page = await openPictured(browser, sight)
    const shoot = async (name: string, maxHeight?: number) => {
      await page.setViewportSize(devices[sight.device].viewport)
      await page.mouse.move(0, 0)
      await showWhole(page, maxHeight)
      await savePicture(page, `${name}-${sight.device}-${sight.scheme}`)
    }
    await page.goto(program.baseUrl)
    await shoot('stations')
    await page.getByRole('button', { name: 'Sign in' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Use an API key' }).click()
    await dialog.getByLabel('API key').fill(adminKey)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('spark-line canvas').first().waitFor()
    await shoot('overview')
    for (const [path, heading] of Object.entries(sections)) {
      await page.goto(`${program.baseUrl}/#/${path.replace('station', `station/${station}`)}`)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
      // The simulation of the schedule takes seconds.
      await expect.poll(() => page.locator('main [aria-busy=true]').count(), { timeout: 60_000 }).toBe(0)
      await shoot(path.replace('/', '-'))
    }
    for (const path of isShownInOthers(sight) ? otherPages : []) {
      await page.goto(`${program.baseUrl}/#/${path.replace('station', `station/${station}`)}`)
      await untilShown(page)
      await shoot(path.replace('/', '-'), 2_000)
    }
    for (const [name, path] of isShownInOthers(sight) ? forms : []) {
      await page.goto(`${program.baseUrl}/#/${path}`)
      await untilShown(page)
      await shoot(name, 2_000)
    }
    await page.context().close()
  }
  await browser.close()
})
