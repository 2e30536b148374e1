import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'vitest'

import { startBrowser } from '../support/browser.ts'
import { isolatedTest as test } from '../support/fixtures.ts'

/** The number of minutes that the page stays open. */
const minutes = 60
const songMs = 6_000
const warmUpSongs = 20

test('a page that is open for an hour does not leak memory, and its progress bar is correct', async ({
  stage
}) => {
  const station = await stage.put()
  const browser = await startBrowser()
  const page = await browser.newPage()
  await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
  const session = await page.context().newCDPSession(page)

  async function measure() {
    // Both values in one evaluation, before the page pauses for garbage collection.
    const [shown, atMs] = await page.evaluate<[string, number]>(
      "[document.querySelector('.times span').textContent, Date.now()]"
    )
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
    const [, min = '0', sec = '0'] = /(\d+):(\d+)/.exec(shown) ?? []
    // Starts are published in whole seconds.
    const elapsedMs = atMs - Math.floor((station.state().shown?.startedAtMs ?? 0) / 1_000) * 1_000
    return {
      kilobytes: Math.round(usedSize / 1024),
      nodes,
      jsEventListeners,
      // The page displays whole seconds, so the actual time is 0 to 1,000 ms later.
      lagMs: elapsedMs - (Number(min) * 60 + Number(sec)) * 1_000
    }
  }

  const lags: number[] = []
  let before = await measure()
  const songs = Math.round((minutes * 60_000) / songMs)
  for (let at = 1; at <= songs; at++) {
    await station.play(`Song ${at}`)
    // At some moment within the song.
    await pause(songMs * (0.3 + 0.4 * ((at % 7) / 7)))
    const now = await measure()
    lags.push(now.lagMs)
    if (at === warmUpSongs) before = now
    if (at % 50 === 0) process.stdout.write(`${JSON.stringify({ songs: at, ...now })}\n`)
    await pause(songMs * (0.7 - 0.4 * ((at % 7) / 7)))
  }
  const after = await measure()
  await browser.close()
  const sorted = lags.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]
  const lagQuantiles = [0, 0.01, 0.5, 0.99, 1].map(quantile)
  process.stdout.write(`${JSON.stringify({ before, after, lagMs: lagQuantiles })}\n`)
  expect(after.kilobytes - before.kilobytes).toBeLessThan(300)
  expect(after.nodes - before.nodes).toBeLessThan(100)
  expect(Math.min(...lags)).toBeGreaterThan(-250)
  expect(Math.max(...lags)).toBeLessThan(1_250)
})
