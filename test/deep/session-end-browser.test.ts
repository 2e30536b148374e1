import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { call, createUser, password } from '../support/people.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'

/** The dashboard at the name of `BASE_URL`, for which sessions are. */
const siteOf = ({ baseUrl }: Program) => baseUrl.replace('127.0.0.1', 'localhost')

async function signInHere(page: Page, email: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in' })
  await dialog.getByLabel('Email address').fill(email)
  await dialog.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
}

interface EditedView {
  readonly section: string
  readonly open?: (page: Page) => Promise<unknown>
  readonly edit: (page: Page) => Promise<unknown>
  /** Whether the edit is still there. */
  readonly isKept: (page: Page) => Promise<boolean>
  readonly save: (page: Page) => Promise<unknown>
  /** What is shown once it is saved. */
  readonly saved: string | RegExp
}

const views: readonly EditedView[] = [
  {
    section: 'settings',
    edit: page => page.getByLabel('Description').fill('A new text'),
    isKept: async page => (await page.getByLabel('Description').inputValue()) === 'A new text',
    save: page => page.getByRole('button', { name: 'Save', exact: true }).click(),
    saved: 'Saved.'
  },
  {
    section: 'playlists/new',
    edit: page => page.getByLabel('Name', { exact: true }).fill('Evening'),
    isKept: async page => (await page.getByLabel('Name', { exact: true }).inputValue()) === 'Evening',
    save: page => page.getByRole('button', { name: 'Create' }).click(),
    saved: 'Songs (0)'
  },
  {
    section: 'playlists/{playlist}',
    edit: page => page.locator('.grip').first().press('ArrowDown'),
    isKept: page => page.getByRole('button', { name: 'Save order' }).isVisible(),
    save: page => page.getByRole('button', { name: 'Save order' }).click(),
    saved: 'The order was saved.'
  },
  {
    section: 'schedule',
    edit: page => page.getByRole('button', { name: 'Add', exact: true }).click(),
    isKept: page => page.getByText('1 schedule not saved').isVisible(),
    save: page => page.locator('.schedule-tools').getByRole('button', { name: 'Save', exact: true }).click(),
    saved: '1 schedule saved.'
  },
  {
    section: 'streamers',
    open: page => page.getByRole('button', { name: 'New streamer' }).click(),
    edit: page => page.getByLabel('Streamer username').fill('wren'),
    isKept: async page => (await page.getByLabel('Streamer username').inputValue()) === 'wren',
    save: page => page.getByRole('button', { name: 'Create', exact: true }).click(),
    saved: 'Streamer created.'
  }
]

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test.for(views)(
    'an edited page of a private station outlasts the session, and is saved after signing in: $section',
    { timeout: 120_000 },
    async (view, { program, openPage }) => {
      const station = await startPlaying(program, { songMs: 3_600_000, tracks: 4 })
      const body = { is_public: false }
      await call(program, 'PUT', `/api/admin/station/${station.id}`, { key: adminKey, body })
      const { email } = await createUser(program, { role: 'Administrator' })
      const page = await openPage({ viewport: { width: 1280, height: 1000 } })
      page.setDefaultTimeout(20_000)
      const section = view.section.replace('{playlist}', String(station.playlistId))
      const name: string = station.document.station.shortcode
      await page.goto(`${siteOf(program)}/#/station/${name}/${section}`)
      await signInHere(page, email)
      await view.open?.(page)
      await view.edit(page)
      await expect.poll(() => view.isKept(page)).toBe(true)
      // The session ends elsewhere, as when it expires or is revoked.
      await program.sql`delete from sessions`
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
      const untilMs = Date.now() + 20_000
      await expect
        .poll(async () => ((await view.isKept(page)) ? Date.now() : Infinity), {
          timeout: 30_000,
          interval: 500
        })
        .toBeGreaterThan(untilMs)
      // Saving asks again, and refuses nothing for good.
      await page.getByRole('dialog', { name: 'Sign in' }).getByRole('button', { name: 'Cancel' }).click()
      await view.save(page)
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
      await signInHere(page, email)
      expect(await view.isKept(page)).toBe(true)
      await view.save(page)
      const saved = page.getByText(view.saved).first()
      // A schedule that is silent now is asked about.
      const question = page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true })
      await saved.or(question.last()).first().waitFor()
      if (!(await saved.isVisible())) await question.last().click()
      await saved.waitFor()
      // The page is live again.
      await page.locator('.station-about', { hasText: 'Private' }).waitFor({ timeout: 5_000 })
    }
  )

  test('who signs in again returns to the page that was left', async ({ program, openPage }) => {
    const station = await startPlaying(program, { songMs: 3_600_000 })
    const { email } = await createUser(program, { role: 'Administrator' })
    const page = await openPage()
    const address = `${siteOf(program)}/#/station/${station.document.station.shortcode}/playlists`
    await page.goto(address)
    await signInHere(page, email)
    await page.getByRole('link', { name: 'Rotation', exact: true }).waitFor()
    await program.sql`delete from sessions`
    const signIn = page.getByRole('button', { name: 'Sign in', exact: true })
    await signIn.waitFor({ timeout: 40_000 })
    await expect.poll(() => page.url()).not.toBe(address)
    await signIn.click()
    await signInHere(page, email)
    await page.getByRole('link', { name: 'Rotation', exact: true }).waitFor()
    expect(page.url()).toBe(address)
  }, 90_000)
})
