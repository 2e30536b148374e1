import { type Browser, chromium as browsers } from 'playwright-core'

import { chromium } from './foreign-programs.ts'

/** Starts the machine's Chromium, without anything that would call home. */
export function startBrowser(): Promise<Browser> {
  return browsers.launch({
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
  })
}
