import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'vitest'

import { startBrowser } from '../support/browser.ts'
import { test } from '../support/fixtures.ts'

/** How long the page stays open, in minutes. */
const minutes = Number(process.env['MINUTES'] ?? 60)
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
    const trueMs = atMs - (station.state().shown?.startedAtMs ?? 0)
    return {
      kilobytes: Math.round(usedSize / 1024),
      nodes,
      jsEventListeners,
      driftMs: trueMs - (Number(min) * 60 + Number(sec)) * 1_000
    }
  }

  const drifts: number[] = []
  let before = await measure()
  const songs = Math.round((minutes * 60_000) / songMs)
  for (let at = 1; at <= songs; at++) {
    await station.play(`Song ${at}`)
    // Somewhere inside of the song.
    await pause(songMs * (0.3 + 0.4 * ((at % 7) / 7)))
    const now = await measure()
    drifts.push(now.driftMs)
    if (at === warmUpSongs) before = now
    if (at % 50 === 0) process.stdout.write(`${JSON.stringify({ songs: at, ...now })}\n`)
    await pause(songMs * (0.7 - 0.4 * ((at % 7) / 7)))
  }
  const after = await measure()
  await browser.close()
  const sorted = drifts.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]
  process.stdout.write(`${JSON.stringify({ before, after, drift: [0, 0.01, 0.5, 0.99, 1].map(quantile) })}\n`)
  expect(after.kilobytes - before.kilobytes).toBeLessThan(300)
  expect(after.nodes - before.nodes).toBeLessThan(100)
  // The text shows whole seconds, and seconds of the start are cut off: up to one behind, never more than one ahead.
  expect(Math.min(...drifts)).toBeGreaterThan(-1_000)
  expect(Math.max(...drifts)).toBeLessThan(1_000 + 500)
})
