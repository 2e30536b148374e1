import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Options of the browser context, and whether the test expects errors on the console. */
export interface OpenPageOptions extends BrowserContextOptions {
  readonly allowsErrors?: boolean
}

/** Opens a page in its own browser context, without animations unless `reducedMotion` is set. */
export type OpenPage = (options?: OpenPageOptions) => Promise<Page>

/** The pages of one test. `close` fails if a page reported an error other than a failed request. */
export function openPages(browser: Browser): {
  readonly open: OpenPage
  readonly close: () => Promise<void>
} {
  const errors: string[] = []
  const closers: (() => Promise<void>)[] = []
  return {
    open: async ({ allowsErrors = false, ...options } = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
      closers.push(() => context.close())
      const page = await context.newPage()
      if (!allowsErrors) collectErrors(page, errors)
      return page
    },
    close: async () => {
      await Promise.all(closers.map(close => close()))
      expect(errors).toEqual([])
    }
  }
}

function collectErrors(page: Page, errors: string[]): void {
  page.on('pageerror', error => errors.push(String(error)))
  page.on('console', line => {
    if (line.type() === 'error' && !/Failed to load resource|WebSocket connection to/.test(line.text()))
      errors.push(line.text())
  })
  page.on('dialog', dialog => errors.push(dialog.message()))
}

interface AxeResults {
  readonly passes: readonly unknown[]
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Returns the rules of axe that a page violates, with the elements, except for the given impacts. */
export async function axeFindings(page: Page, exceptFor: readonly string[]): Promise<unknown[]> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(await readFile(axeFile, 'utf8'))
  const { passes, violations } = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ['violations'] })`)
  expect(passes.length).toBeGreaterThan(5)
  return violations
    .filter(({ impact }) => !exceptFor.includes(impact))
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}
