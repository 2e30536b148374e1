import { expect, test } from 'vitest'

import { isLeftOut } from '../../../../../web/dashboard/media/upload/left-out-files.ts'
import { openUploadAddresses } from '../../../../../web/dashboard/media/upload/upload-addresses.ts'

test('pictures and playlists of a dropped folder are left out, unknown files are not', () => {
  const pick = (name: string, type = '') => ({ file: new File([], name, { type }), path: name })
  const others = [pick('.DS_Store'), pick('cover.jpg', 'image/jpeg'), pick('album.m3u'), pick('notes.txt')]
  expect(others.map(isLeftOut)).toEqual([true, true, true, true])
  expect([pick('a.mp3', 'audio/mpeg'), pick('a.opus'), pick('take')].map(isLeftOut)).toEqual([
    false,
    false,
    false
  ])
})

test('addresses of unfinished uploads are forgotten after two days', () => {
  const stored = new Map<string, string>()
  const storage = Object.assign(Object.create({}), {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => {
      stored.set(key, value)
      storage[key] = value
    },
    removeItem: (key: string) => {
      stored.delete(key)
      delete storage[key]
    }
  })
  let nowMs = 0
  openUploadAddresses(storage, () => nowMs).set('song', 'https://radio.example.com/1')
  expect(openUploadAddresses(storage, () => nowMs).get('song')).toBe('https://radio.example.com/1')
  nowMs = 49 * 3_600_000
  expect(openUploadAddresses(storage, () => nowMs).get('song')).toBeNull()
})
