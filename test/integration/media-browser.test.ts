import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { mp3 } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { toneWav } from '../support/tone.ts'
import { waitFor } from '../support/wait.ts'

/** Creates a station and opens its files, signed in. */
async function openMedia(page: Page, program: Program) {
  page.setDefaultTimeout(15_000)
  const station = await startPlaying(program, { tracks: 1 })
  await program.sql`delete from media where station_id = ${station.id}`
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  await page.goto(`${program.baseUrl}/#/station/${station.document.station.shortcode}/media`)
  await page.getByText('There are no files yet').waitFor()
  return { ...station, path: `/api/station/${station.id}` }
}

/** Drops a folder `Dropped` with files on the page, as a browser does. */
async function dropFolder(page: Page, files: Readonly<Record<string, Buffer>>): Promise<void> {
  const contents = Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')])
  await page.evaluate(`(() => {
    const entries = ${JSON.stringify(contents)}.map(([name, base64]) => ({
      name, isFile: true, isDirectory: false,
      file: done => done(new File([Uint8Array.from(atob(base64), each => each.charCodeAt(0))], name))
    }))
    const folder = {
      name: 'Dropped', isFile: false, isDirectory: true,
      createReader: () => {
        const parts = [entries.slice(0, 2), entries.slice(2), []]
        return { readEntries: done => done(parts.shift()) }
      }
    }
    const event = new Event('drop', { bubbles: true, cancelable: true })
    Object.defineProperty(event, 'dataTransfer', {
      value: { types: ['Files'], items: [{ webkitGetAsEntry: () => folder }] }
    })
    document.querySelector('.uploads').dispatchEvent(event)
  })()`)
}

const rowOf = (page: Page, title: string) => page.locator('.media-row').filter({ hasText: title })
const within10s = { timeout: 10_000 }

describe.skipIf(whyWithout('chromium') !== null)('the files of a station', () => {
  test('a dropped folder is uploaded, edited, added to a playlist and deleted', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1280, height: 1_000 } })
    const { path, playlistId } = await openMedia(page, program)
    await dropFolder(page, {
      'one.mp3': mp3({ TIT2: 'First Song', TPE1: 'The Ferries' }, 400),
      'two.mp3': mp3({ TIT2: 'Second Song', TPE1: 'The Ferries' }, 400),
      'tone.wav': toneWav([1, 0, 0.5, 1]),
      'fake.mp3': Buffer.from('This is text, and not a song. '.repeat(50)),
      'cover.jpg': Buffer.from('a picture')
    })
    await page.getByText('1 file left out (not audio): Dropped/cover.jpg').waitFor()
    await page.getByText('3 files of 4 uploaded, 1 failed').waitFor()
    expect(await page.locator('.upload-row[data-state=failed] .trouble').textContent()).toMatch(/audio/)
    // All of it was sent, but it is not shown as done.
    expect(await page.locator('.upload-row[data-state=failed] progress').count()).toBe(0)
    expect(await page.locator('.upload-row[data-state=failed] .upload-state').textContent()).toMatch(/Failed/)
    expect(
      await page.evaluate(
        `(each => each.value / each.max)(document.querySelector('.upload-summary progress'))`
      )
    ).toBeLessThan(1)
    await page.getByRole('button', { name: 'Clear finished' }).click()
    await page.getByRole('button', { name: 'Cancel Dropped/fake.mp3' }).click()

    await rowOf(page, 'Dropped').dblclick()
    await rowOf(page, 'First Song').waitFor()
    await page.locator('.breadcrumb').getByText('Dropped').waitFor()
    await page.goBack()
    await rowOf(page, 'Dropped').waitFor()
    await page.goForward()
    await rowOf(page, 'First Song').waitFor()
    await page.reload()
    await rowOf(page, 'First Song').waitFor()
    expect(await page.locator('.media-row').count()).toBe(3)

    // Tags, by keyboard.
    await rowOf(page, 'First Song').click()
    await page.keyboard.press('Enter')
    const details = page.locator('.media-details')
    await details.getByLabel('Title').fill('First Song (Live)')
    await details.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'First Song (Live)').waitFor()
    await details.getByRole('button', { name: 'Close the details' }).click()

    // Cue points of a file with a waveform, by keyboard.
    await rowOf(page, 'tone').dblclick()
    await details.getByRole('img', { name: 'Waveform' }).waitFor(within10s)
    await details.getByRole('slider', { name: 'Cue in' }).focus()
    for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowRight')
    await details.getByRole('slider', { name: 'Cue out' }).focus()
    await page.keyboard.press('Shift+ArrowLeft')
    expect(await details.getByLabel('Cue in').last().inputValue()).toBe('1.3')
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    await details.getByRole('button', { name: 'Save' }).click()
    await details.getByRole('button', { name: 'Save', disabled: true }).waitFor()
    const listed = await program.ask('GET', `${path}/files?searchPhrase=tone`)
    const [tone] = Array.isArray(listed.body) ? listed.body : listed.body.rows
    expect(tone.extra_metadata).toMatchObject({ cue_in: 1.3, cue_out: 3, fade_in: null })

    // It is heard from the cue point on.
    await details.getByRole('button', { name: 'Play from the start' }).click()
    await page.locator('.preview audio[src^="blob:"]').waitFor()
    await details.getByRole('button', { name: 'Close the details' }).click()

    // All files of the folder go to a playlist, and are deleted.
    await rowOf(page, 'Second Song').click()
    await page.keyboard.press('Control+a')
    await page.getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Add to playlists…' }).click()
    await page.getByRole('dialog').getByRole('checkbox').first().check()
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.getByText('3 items added to the playlists.').waitFor()
    const tracks = await program.sql`select from playlist_tracks where playlist_id = ${playlistId}`
    expect(tracks.count).toBe(3)
    await rowOf(page, 'Second Song').focus()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByText('This deletes 3 files from the storage').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/3 items deleted|already been sent/).waitFor()
  }, 90_000)

  test.runIf(isDeep)(
    'an upload is paused, continues after a reload of the page, and is stored once',
    async ({ program, openPage }) => {
      const page = await openPage({ allowsErrors: true })
      const { path } = await openMedia(page, program)
      await using folder = await openTempFolder()
      const file = join(folder.path, 'long.mp3')
      const bytes = mp3({ TIT2: 'Long Upload', TPE1: 'The Ferries' }, 20_000)
      await writeFile(file, bytes)
      const choose = () => page.locator('.uploads input[type=file]').first().setInputFiles(file)
      const methods: string[] = []
      let isBlocked = true
      await page.route(/files\/uploads/, route => {
        const method = route.request().method()
        methods.push(method)
        // Without an answer the request stays in flight.
        return method === 'PATCH' && isBlocked ? undefined : route.continue()
      })
      await choose()
      await waitFor(() => methods.includes('PATCH'), { deadlineMs: 10_000, what: 'the first part' })
      await page.getByRole('button', { name: 'Pause long.mp3' }).click()
      await page.locator('.upload-row[data-state=paused]').waitFor()
      await page.getByRole('button', { name: 'Resume long.mp3' }).click()
      await waitFor(() => methods.filter(method => method === 'PATCH').length === 2, {
        deadlineMs: 10_000,
        what: 'the part again'
      })
      page.on('dialog', dialog => void dialog.accept())
      await page.reload()
      isBlocked = false
      await choose()
      await page.getByText('1 file of 1 uploaded').waitFor()
      await rowOf(page, 'Long Upload').waitFor()
      expect(methods.filter(method => method === 'POST').length).toBe(1)
      const { body }: JsonBody = await program.ask('GET', `${path}/files/list`)
      expect(body.rows.map((row: JsonBody) => [row.path, row.size])).toEqual([['long.mp3', bytes.length]])
    },
    60_000
  )
})
