import { type Browser, chromium as browsers, type LaunchOptions } from 'playwright-core'

import { chromium } from './foreign-programs.ts'

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
    '--disable-sync'
  ]
}

export const startBrowser = (): Promise<Browser> => browsers.launch(browserOptions)
