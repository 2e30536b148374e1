import { createRequire } from 'node:module'

import type * as Playwright from 'playwright-core'
import type { Browser, LaunchOptions } from 'playwright-core'

import { chromium } from './foreign-programs.ts'

// An import would cost 0.4 s of CPU: Node.js scans a CommonJS module for its exports.
const { chromium: browsers }: typeof Playwright = createRequire(import.meta.url)('playwright-core')

/** The installed Chromium, without background network traffic. */
const browserOptions: LaunchOptions = {
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
    // Fewer processes: each takes about 0.3 s of CPU to start.
    '--no-zygote',
    '--in-process-gpu',
    '--renderer-process-limit=1'
  ]
}

export const startBrowser = (): Promise<Browser> => browsers.launch(browserOptions)
