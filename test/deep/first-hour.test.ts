import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { describe, expect, inject } from 'vitest'

import { mp3 } from '../support/audio-bytes.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { openHands, type Means } from '../support/hands.ts'
import { axeFindings, type OpenPageOptions } from '../support/open-page.ts'
import { adminKey, type JsonBody } from '../support/program.ts'
import { openProgram } from '../support/shared-program.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { startWebServer } from '../support/web-server.ts'

const maxSteps = 60

/** The songs take a minute each, so that none ends in the middle. */
const songs = ['Harbour Lights', 'Night Ferry', 'Low Tide']
const framesPerMinute = 2_300

/** A program with an empty database for each run. */
const test = isolatedTest
  // oxlint-disable-next-line no-empty-pattern
  .extend('empty', async ({}, { onCleanup }) => {
    const opened = await openProgram(inject('templateUrl'), {
      DEMO: 'off',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
    })
    onCleanup(opened.close)
    return opened.value
  })

const runs: readonly { readonly means: Means; readonly options: OpenPageOptions }[] = [
  { means: 'mouse', options: { viewport: { width: 1280, height: 800 } } },
  { means: 'touch', options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
  { means: 'keyboard', options: { viewport: { width: 1280, height: 800 } } }
]

/** Fails if a page is wider than the window, or has serious findings of axe. */
async function inspectPage(page: Page): Promise<void> {
  expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
  const { width = 0 } = page.viewportSize() ?? {}
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
}

describe.skipIf(whyWithout('chromium') !== null)('the first hour', () => {
  test.for(runs)(
    'an empty installation becomes a scheduled station with music and a web hook: $means',
    { timeout: 120_000 },
    async ({ means, options }, { empty, openPage }) => {
      const page = await openPage(options)
      page.setDefaultTimeout(15_000)
      await using folder = await openTempFolder()
      await using receiver = await startWebServer()
      const files = songs.map(title => join(folder.path, `${title}.mp3`))
      for (const [index, file] of files.entries())
        await writeFile(file, mp3({ TIT2: songs[index] ?? '', TPE1: 'The Ferries' }, framesPerMinute))
      await page.goto(empty.baseUrl)
      const startMs = Date.now()
      const { press, fill, choose, pickFiles, steps } = openHands(page, means)
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      const dialog = page.getByRole('dialog')
      const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true })
      const tab = (name: string) =>
        page.getByRole('navigation', { name: 'Station' }).getByRole('link', { name, exact: true })

      await press(button('Sign in'))
      await press(inDialog('Use an API key'))
      await fill(dialog.getByLabel('API key'), adminKey)
      await press(inDialog('Sign in'))

      // The first steps.
      await press(page.getByRole('link', { name: 'Set up the first station' }))
      await press(button('Name a station'))
      await fill(dialog.getByLabel('Name', { exact: true }), 'Harbour FM')
      await press(inDialog('Create'))
      await pickFiles(page.locator('.upload-button', { hasText: 'files' }), files)
      await page.getByText('3 files of 3 uploaded').waitFor()
      await press(button('Make a rotation of all songs'))
      await press(page.getByRole('radio', { name: /^Clock/ }))
      await page.locator('.start-steps li', { hasText: 'Go on the air' }).getByText('Done').waitFor()
      const playerOpens = page.waitForEvent('popup')
      await press(page.getByRole('link', { name: 'Open the player' }))
      const player = await playerOpens
      await player.locator('.title', { hasText: new RegExp(songs.join('|')) }).waitFor()
      // Nothing streams what the clock plays.
      await player.getByRole('button', { name: 'Listen' }).click()
      await player.locator('.sound-text', { hasText: 'This station has no stream' }).waitFor()
      await inspectPage(player)
      await page.bringToFront()
      await page.getByText('6 steps of 6 done').waitFor()
      const code = await page.getByLabel('The code of the widget').inputValue()
      await inspectPage(page)

      // What plays, here and in the player.
      await press(page.getByRole('link', { name: 'Harbour FM' }))
      const before = await page.locator('.on-air-title').innerText()
      expect(songs).toContain(before)
      expect(await player.locator('.title').innerText()).toBe(before)
      await inspectPage(page)
      await press(button('Skip'))
      await press(inDialog('Skip'))
      const after = page.locator('.on-air-title', { hasNotText: before })
      await after.waitFor()
      await player.locator('.title', { hasText: await after.innerText() }).waitFor()

      // A second playlist, for the mornings.
      await press(tab('Playlists'))
      await press(button('Create'))
      await fill(page.getByLabel('Name', { exact: true }), 'Mornings')
      await inspectPage(page)
      await press(button('Create'))
      await page.getByRole('heading', { name: 'Songs (0)' }).waitFor()
      await press(tab('Media'))
      await press(page.locator('.media-row', { hasText: 'Low Tide' }))
      await press(button('Add to playlists…'))
      await press(dialog.getByLabel('Mornings'))
      await press(inDialog('Add'))
      await page.getByText('1 item added to the playlists.').waitFor()
      await inspectPage(page)

      await press(tab('Schedule'))
      await choose(page.getByLabel('New periods are for'), 'Mornings')
      await press(button('Add'))
      await fill(page.getByLabel('Start', { exact: true }), '06:00')
      await fill(page.getByLabel('End', { exact: true }), '09:30')
      await page.getByText('1 schedule not saved').waitFor()
      await inspectPage(page)
      await press(button('Save'))
      await page.getByText('1 schedule saved.').waitFor()

      await press(tab('Web hooks'))
      await press(button('New web hook'))
      await choose(dialog.getByLabel('Type', { exact: true }), 'generic')
      await fill(dialog.getByLabel('Name', { exact: true }), 'Website')
      await fill(dialog.getByLabel('Webhook URL', { exact: true }), receiver.url)
      await press(inDialog('Create'))
      await press(inDialog('Done'))
      await press(button('Send a test'))
      await page.locator('.test-result[data-tone=good]').waitFor()
      await inspectPage(page)
      const seconds = Math.round((Date.now() - startMs) / 1_000)
      process.stdout.write(`the first hour by ${means}: ${steps()} clicks and fields, ${seconds} s\n`)
      expect(steps()).toBeLessThanOrEqual(maxSteps)

      expect(receiver.asked.length).toBeGreaterThan(0)
      const { body: stations } = await empty.ask('GET', '/api/admin/stations')
      expect(stations).toMatchObject([{ name: 'Harbour FM', backend: 'clock' }])
      const { body: playlists } = await empty.ask('GET', `/api/station/${stations[0].id}/playlists`)
      expect(playlists).toMatchObject([
        { name: 'Mornings', schedule_items: [{ start_time: 600, end_time: 930 }] },
        { name: 'Rotation', schedule_items: [] }
      ])
      const orders = await Promise.all(
        playlists.map(({ id }: JsonBody) =>
          empty.ask('GET', `/api/station/${stations[0].id}/playlist/${id}/order`)
        )
      )
      expect(orders.map(({ body }) => body.length)).toEqual([1, 3])
      // The code works in a page of another website.
      receiver.respondWith((_, response) => response.setHeader('Content-Type', 'text/html').end(code))
      const website = await openPage()
      await website.goto(receiver.url)
      await website.locator('[part=title]', { hasText: new RegExp(songs.join('|')) }).waitFor()
    }
  )
})
