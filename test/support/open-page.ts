import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/** A page of its own, whose complaints fail the test when it is over; that something was refused is none. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', line => {
    if (line.type() === 'error' && !/Failed to load resource|WebSocket connection to/.test(line.text()))
      complaints.push(line.text())
  })
  page.on('dialog', dialog => complaints.push(dialog.message()))
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  return page
}

interface AxeResults {
  readonly passes: readonly unknown[]
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** What axe finds wrong with a page as it is that is serious or worse: rules, and where they are broken. */
export async function seriousFindings(page: Page): Promise<unknown[]> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  const { passes, violations } = await page.evaluate<AxeResults>('axe.run()')
  expect(passes.length).toBeGreaterThan(5)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}
