import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'

interface Edited {
  /** The address of its form. */
  readonly at: string
  /** The path of the record in the API. */
  readonly path: string
  readonly label: string
  readonly field: string
  readonly values: readonly [theirs: string | number, mine: string | number]
  /** A field that someone else may change without a question. */
  readonly other: Readonly<Record<string, string>>
}

/** The records of a station, and a role with that station's name. */
async function seed(program: Program): Promise<Record<string, Edited>> {
  const { id, document: np } = await startPlaying(program, { songMs: 3_600_000, tracks: 2 })
  const station = np.station.shortcode
  const [playlist] = (await program.ask('GET', `/api/station/${id}/playlists`)).body
  const [file] = (await program.ask('GET', `/api/station/${id}/files`)).body
  const role = await program.ask('POST', '/api/admin/roles', { body: { name: station } })
  return {
    playlist: {
      at: `#/station/${station}/playlists/${playlist.id}`,
      path: `/api/station/${id}/playlist/${playlist.id}`,
      label: 'Weight',
      field: 'weight',
      values: [7, 9],
      other: { name: 'Renamed' }
    },
    media: {
      at: `#/station/${station}/media?file=${file.id}`,
      path: `/api/station/${id}/file/${file.id}`,
      label: 'Title',
      field: 'title',
      values: ['Theirs', 'Mine'],
      other: { album: 'Another' }
    },
    role: {
      at: `#/people/role-${role.body.id}`,
      path: `/api/admin/role/${role.body.id}`,
      label: 'Name',
      field: 'name',
      values: ['Theirs', 'Mine'],
      other: {}
    }
  }
}

const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test.for(['playlist', 'media', 'role'])(
    'a change of someone else is not overwritten without a question: %s',
    { timeout: 60_000 },
    async (kind, { program, openPage }) => {
      const edited = (await seed(program))[kind]
      if (edited === undefined) throw new Error(kind)
      const { at, path, label, field, values, other } = edited
      const stored = async () => (await program.ask('GET', path)).body[field]
      const page = await openPage({ viewport: { width: 1280, height: 1000 } })
      await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
      await page.goto(`${program.baseUrl}/${at}`)
      const input = page.getByLabel(label, { exact: true })
      await input.fill(String(values[1]))
      await program.ask('PUT', path, { body: { [field]: values[0], ...other } })

      await save(page)
      const dialog = page.getByRole('dialog', { name: 'Someone changed this meanwhile' })
      await dialog.getByText(`${label}: the stored values are no longer`).waitFor()
      expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText(`Not saved: someone changed ${label} meanwhile.`).waitFor()
      expect(await stored()).toBe(values[0])
      expect(await input.inputValue()).toBe(String(values[1]))

      await save(page)
      await dialog.getByRole('button', { name: 'Save anyway' }).click()
      await dialog.waitFor({ state: 'detached' })
      await expect.poll(stored, { timeout: 10_000 }).toBe(values[1])
    }
  )
})
