import { expect, test } from 'vitest'

import {
  installationLink,
  isSameSection,
  keepsFormOpen,
  mediaLink,
  parseDashboardRoute,
  stationLink
} from '../../../../web/dashboard/ui/route.ts'

test('links to folders, files and forms are parsed back to what they name', () => {
  const station = 'Süd & Co'
  const inStation = { view: 'station', station }
  expect(parseDashboardRoute(mediaLink(station, 'A?b/50% off #1', 12))).toEqual({
    ...inStation,
    section: 'media',
    folder: 'A?b/50% off #1',
    item: '12'
  })
  expect(parseDashboardRoute(mediaLink(station, '', null))).toEqual({
    ...inStation,
    section: 'media',
    folder: '',
    item: ''
  })
  expect(parseDashboardRoute(stationLink(station, 'playlists', 'new'))).toEqual({
    ...inStation,
    section: 'playlists',
    folder: '',
    item: 'new'
  })
  expect(parseDashboardRoute(installationLink('people', 'role-2'))).toEqual({
    view: 'installation',
    section: 'people',
    folder: '',
    item: 'role-2'
  })
})

test('a URL fragment without a place leads to the view that it names', () => {
  const top = { folder: '', item: '' }
  for (const hash of ['', '#', '#/', '#/stations'])
    expect(parseDashboardRoute(hash)).toEqual({ view: 'installation', section: 'stations', ...top })
  expect(parseDashboardRoute('#/system')).toEqual({ view: 'installation', section: 'system', ...top })
  const inStation = { view: 'station', ...top }
  expect(parseDashboardRoute('#/station/a%2Fb/hooks')).toEqual({
    ...inStation,
    station: 'a/b',
    section: 'hooks'
  })
  expect(parseDashboardRoute('#/station/demo/')).toEqual({ ...inStation, station: 'demo', section: 'now' })
})

test.each([
  '#/nowhere',
  '#/system/3',
  '#/stations/3',
  '#/keys/',
  '#/keys/1/2',
  '#/station',
  '#/station/',
  '#/station/a/x',
  '#/station/%',
  '#/station/demo/now/3',
  '#/station/demo/playlists/1/2',
  '#/station/demo/media?file=x',
  '#/station/%E0%A4%A/media',
  '#/join/token/more'
])('%s names nothing', hash => {
  expect(parseDashboardRoute(hash)).toEqual({ view: 'not-found' })
})

test.each(['/tmp/music', '/tmp', 'https://radio.example/songs', 'a/b'])(
  'the folder %s of an imported song has a link',
  folder => {
    expect(parseDashboardRoute(mediaLink('demo', folder, null))).toMatchObject({ section: 'media', folder })
  }
)

test('a form stays open while the folder changes, and not if another record is named', () => {
  const media = (folder: string, file: number | null) => parseDashboardRoute(mediaLink('demo', folder, file))
  expect(keepsFormOpen(media('a', 1), media('a/b', 1))).toBe(true)
  expect(keepsFormOpen(media('a', 1), media('a', 2))).toBe(false)
  expect(isSameSection(media('a', 1), media('', null))).toBe(true)
  expect(isSameSection(media('', null), parseDashboardRoute(stationLink('demo', 'queue')))).toBe(false)
})
