import { PassThrough } from 'node:stream'

import { expect, test } from 'vitest'

import { openLineProgress, renderBar } from '../../../../src/commands/import/progress.ts'

const counts = { found: 0, added: 0, updated: 0, unchanged: 0, skipped: 0 }

test('the bar shows share, count, rate and name', () => {
  const line = renderBar({ ...counts, found: 5 }, 10, 2, '/music/Night Ferry.mp3')
  expect(line).toBe('[##########----------]  50 %  5/10  3/s  Night Ferry.mp3')
})

test('a folder that grew after counting does not overflow the bar', () => {
  expect(renderBar({ ...counts, found: 12 }, 10, 1, 'a')).toContain('100 %  12/10')
  expect(renderBar(counts, 0, 0, 'a')).toContain('100 %  0/0')
})

test('a file name cannot control the terminal', () => {
  expect(renderBar(counts, 1, 1, '/x/\u001B[2J\u202Egnp.mp3')).toContain('?[2J?gnp.mp3')
})

test('without a terminal there is a line for each skipped file and every 500 files', async () => {
  const out = new PassThrough()
  const { show } = openLineProgress(out)
  for (let found = 1; found <= 1_100; found += 1) {
    show({ path: 'a', counts: { ...counts, found } })
  }
  show({ path: 'b\n.mp3', counts: { ...counts, found: 1_101 }, skipReason: 'it is empty' })
  out.end()
  expect((await out.toArray()).join('')).toBe(
    '500 files read\n1000 files read\nskipped b?.mp3: it is empty\n'
  )
})
