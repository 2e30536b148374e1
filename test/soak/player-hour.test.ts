import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'vitest'

import { startBrowser } from '../support/browser.ts'
import { isolatedTest as test } from '../support/fixtures.ts'

/** How long the page stays open. */
const minutes = 60
const songMs = 6_000
const warmUpSongs = 20

test('a page that is open for long holds no more, and its bar is true', async ({ stage }) => {
  const station = await stage.put()
  const browser = await startBrowser()
  const page = await browser.newPage()
  await page.goto(`${stage.baseUrl}/public/${station.shortName}`)
  const session = await page.context().newCDPSession(page)

  async function measure() {
    // At one moment, in the page, and before it stands still to collect garbage.
    const [shown, atMs] = await page.evaluate<[string, number]>(
      "[document.querySelector('.times span').textContent, Date.now()]"
    )
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
    const [, min = '0', sec = '0'] = /(\d+):(\d+)/.exec(shown) ?? []
    // Starts are told in whole seconds.
    const trueMs = atMs - Math.floor((station.state().shown?.startedAtMs ?? 0) / 1_000) * 1_000
    return {
      kilobytes: Math.round(usedSize / 1024),
      nodes,
      jsEventListeners,
      // Seconds are shown whole, so that the truth is 0 to 1,000 ms after what is shown.
      truthAfterMs: trueMs - (Number(min) * 60 + Number(sec)) * 1_000
    }
  }

  const truths: number[] = []
  let before = await measure()
  const songs = Math.round((minutes * 60_000) / songMs)
  for (let at = 1; at <= songs; at++) {
    await station.play(`Song ${at}`)
    // Somewhere inside of the song.
    await pause(songMs * (0.3 + 0.4 * ((at % 7) / 7)))
    const now = await measure()
    truths.push(now.truthAfterMs)
    if (at === warmUpSongs) before = now
    if (at % 50 === 0) process.stdout.write(`${JSON.stringify({ songs: at, ...now })}\n`)
    await pause(songMs * (0.7 - 0.4 * ((at % 7) / 7)))
  }
  const after = await measure()
  await browser.close()
  const sorted = truths.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]
  const truthAfterMs = [0, 0.01, 0.5, 0.99, 1].map(quantile)
  process.stdout.write(`${JSON.stringify({ before, after, truthAfterMs })}\n`)
  expect(after.kilobytes - before.kilobytes).toBeLessThan(300)
  expect(after.nodes - before.nodes).toBeLessThan(100)
  expect(Math.min(...truths)).toBeGreaterThan(-250)
  expect(Math.max(...truths)).toBeLessThan(1_250)
})
