import { createRequire } from 'node:module'

import type * as Playwright from 'playwright-core'
import type { Browser, LaunchOptions } from 'playwright-core'

import { chromium } from './foreign-programs.ts'

// Before it imports a CommonJS module Node looks for all it may export, for 0.4 s of CPU in this one.
const { chromium: browsers }: typeof Playwright = createRequire(import.meta.url)('playwright-core')

/** The machine's Chromium, without anything that would call home. */
export const browserOptions: LaunchOptions = {
  executablePath: chromium,
  headless: true,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Fewer processes: each takes some 0.3 s of CPU to start.
    '--no-zygote',
    '--in-process-gpu',
    '--renderer-process-limit=1'
  ]
}

export const startBrowser = (): Promise<Browser> => browsers.launch(browserOptions)
