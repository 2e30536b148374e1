import { expect, test } from 'vitest'

import { renderFrameCode } from '../../../src/pages/widget-code.ts'

test('a name that changes the direction of text does not change the code around it', () => {
  const station = { public_player_url: 'https://radio.example.com/public/demo', name: 'a\u202eb"c' }
  const code = renderFrameCode(station, 'card', 384)
  expect(code).toContain('title="a&#8238;b&#34;c" style="')
})
