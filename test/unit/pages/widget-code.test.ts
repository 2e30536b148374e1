import { expect, test } from 'vitest'

import { frameCode } from '../../../src/pages/embed.ts'

test('a name that turns the direction of text does not turn the code around it', () => {
  const station = { public_player_url: 'https://radio.example.com/public/demo', name: 'a\u202eb"c' }
  const code = frameCode(station, { size: 'card', width: 384 })
  expect(code).toContain('title="a&#8238;b&#34;c" style="')
})
