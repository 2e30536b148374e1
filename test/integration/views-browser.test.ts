import { fileURLToPath } from 'node:url'

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { roleId } from '../support/people.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { isDeep } from '../support/tier.ts'

interface View {
  readonly section: string
  readonly element: string
}

/** The table of the dashboard. It refers to modules of the browser, which have other types than tests. */
const table: {
  readonly installationViews: readonly View[]
  readonly stationViews: readonly View[]
  readonly joinView: View
} = await import(fileURLToPath(new URL('../../web/dashboard/views.ts', import.meta.url)))

/** Every view with its fragment of the URL. */
const listViews = (station: string, token: string) => [
  ...table.installationViews.map(({ section, element }) => ({ element, path: `/${section}` })),
  ...table.stationViews.map(({ section, element }) => ({ element, path: `/station/${station}/${section}` })),
  { element: table.joinView.element, path: `/join/${token}` }
]

const nasty = `<img src=x onerror="document.title='pwned'"> & "quotes" 'n' 👩‍🚀 </script><b>bold</b>`

/** Creates at least one record for every view, with hostile texts. */
async function seedViews(program: Program) {
  const station = await startPlaying(program, { queueLength: 5 })
  const path = `/api/station/${station.id}`
  const send = async (method: string, target: string, body: object): Promise<JsonBody> => {
    const response = await program.ask(method, target, { body })
    if (response.status !== 200) throw new Error(`${method} ${target}: ${JSON.stringify(response.body)}`)
    return response.body
  }
  const schedule_items = [{ start_time: 0, end_time: 2359, days: [] }]
  await send('PUT', `/api/admin/station/${station.id}`, { name: nasty, timezone: 'Europe/Berlin' })
  await program.sql`update media set title = ${nasty}, artist = ${nasty} where station_id = ${station.id}`
  await send('PUT', `${path}/playlist/${station.playlistId}`, { name: nasty, schedule_items })
  await send('POST', `${path}/webhooks`, { type: 'generic', name: nasty, config: [] })
  await send('POST', `${path}/streamers`, {
    streamer_username: 'wren',
    display_name: nasty,
    schedule_items
  })
  await send('POST', `${path}/hls_streams`, { name: '/views.mp3', display_name: nasty })
  await send('POST', `${path}/remotes`, { name: nasty, url: 'https://relay.example.com/main.mp3' })
  await send('POST', `${path}/sftp-users`, { username: `views_${station.id}`, password: 'correct horse' })
  await send('POST', `${path}/backend/skip`, {})
  await send('POST', '/api/v1/main/notifications', { title: nasty, body: nasty, type: 'danger' })
  await send('POST', '/api/v1/main/news', { title: nasty, body: nasty })
  await send('POST', '/api/v1/main/api-keys', { name: nasty, permissions: ['administer all'] })
  await send('POST', '/api/admin/custom_fields', { name: nasty, short_name: 'views' })
  await send('POST', '/api/admin/storage_locations', {
    type: 'station_media',
    adapter: 'local',
    path: '/srv/radio',
    storageQuota: '1 GB'
  })
  const roles = [await roleId(program, 'Station manager')]
  await send('POST', '/api/admin/users', { email: 'wren@example.com', name: nasty, roles, stations: [] })
  const { link } = await send('POST', '/api/admin/invitations', { name: nasty, roles, stations: [] })
  const name: string = station.document.station.shortcode
  return { name, token: String(link).split('/').at(-1) ?? '', playlistId: station.playlistId }
}

/** Waits until the element of a view is shown and its data is loaded. */
async function untilShown(page: Page, element: string): Promise<void> {
  await page.locator(element).waitFor()
  const busy = page.locator('main [aria-busy=true]')
  await expect.poll(() => busy.count(), { timeout: 20_000 }).toBe(0)
}

/** The widths of the grid: of phones, tablets, small and large screens. */
const widths = [390, 600, 768, 1_024, 1_280, 1_600, 1_920]

/** Fewer characters do not tell one song from another. */
const minCharacters = 12

/** Returns the texts of lists of which fewer characters are shown than `minCharacters`. */
const findCutTexts = (page: Page) =>
  page.evaluate<string[]>(`
    [...document.querySelectorAll('main :is(li, tr, .card, [role=row]) *')]
      .filter(each => /hidden|clip/.test(getComputedStyle(each).overflowX) && each.checkVisibility())
      .filter(each => !each.closest('.visually-hidden') && each.textContent.trim() !== '')
      .filter(each => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
      .map(each => [each, Math.floor(each.textContent.trim().length * each.clientWidth / each.scrollWidth)])
      .filter(([, shown]) => shown < ${minCharacters})
      .map(([each, shown]) => each.className + ': ' + shown + ' characters in ' + each.clientWidth + ' px')`)

const devices = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } }

/** Returns the elements that scroll sideways, except the tabs, which are meant to. */
const findScrolling = (page: Page) =>
  page.evaluate<string[]>(`
    [document.documentElement, ...document.querySelectorAll('body *')]
      .filter(each => !each.matches('nav') && each.scrollWidth > each.clientWidth + 1)
      .filter(each => each === document.documentElement || /auto|scroll/.test(getComputedStyle(each).overflowX))
      .map(each => each.tagName.toLowerCase() + '.' + each.className)`)

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('no view has a serious finding of axe, scrolls sideways, cuts the texts of its lists or runs hostile texts', async ({
    program,
    openPage
  }) => {
    const { name, token, playlistId } = await seedViews(program)
    const page = await openPage({ viewport: devices.desktop })
    await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
    await page.goto(program.baseUrl)
    const findings: unknown[] = []
    // A list that is cut at one width may be whole at a narrower one.
    const checkWidths = async (path: string, all: readonly number[]) => {
      for (const width of all) {
        await page.setViewportSize({ width, height: 900 })
        for (const each of new Set(await findCutTexts(page))) findings.push([path, width, 'cut', each])
        for (const each of await findScrolling(page)) findings.push([path, width, 'scrolls', each])
      }
    }
    const songs = `/station/${name}/playlists/${playlistId}`
    await page.evaluate(`location.hash = ${JSON.stringify(songs)}`)
    await page.locator('.playlist-songs .row-title').first().waitFor()
    await checkWidths(songs, widths)
    for (const [index, { path, element }] of listViews(name, token).entries()) {
      await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
      for (const [at, [device, viewport]] of Object.entries(devices).entries()) {
        // The quick tier opens each view on one device, and runs axe on every eighth.
        if (!isDeep && index % 2 !== at) continue
        await page.setViewportSize(viewport)
        await untilShown(page, element)
        for (const each of await findScrolling(page)) findings.push([path, device, 'scrolls', each])
        for (const each of new Set(await findCutTexts(page))) findings.push([path, device, 'cut', each])
        expect(await page.locator('img[src=x], b').count()).toBe(0)
        if (!isDeep && index % 8 > 1) continue
        for (const colorScheme of isDeep ? (['light', 'dark'] as const) : (['light'] as const)) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          for (const each of await axeFindings(page, ['minor', 'moderate']))
            findings.push([path, device, colorScheme, each])
        }
      }
      if (isDeep) await checkWidths(path, widths)
    }
    expect(findings).toEqual([])
  }, 300_000)
})
