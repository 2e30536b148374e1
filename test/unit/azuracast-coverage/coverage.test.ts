import { describe, expect, test } from 'vitest'

import { readDocument } from '../../by-hand/azuracast-coverage/document.ts'
import { openJudge } from '../../by-hand/azuracast-coverage/judge.ts'
import { findDifferences } from '../../by-hand/azuracast-coverage/read-back.ts'
import { kindOf } from '../../by-hand/azuracast-coverage/run.ts'
import { sampleOf } from '../../by-hand/azuracast-coverage/sample.ts'
import { renderTable, replaceTable } from '../../by-hand/azuracast-coverage/table.ts'

const document = readDocument(`
openapi: 3.0.0
info: { title: Tiny, version: '1.2' }
paths:
  /station/{station_id}/songs:
    get:
      operationId: getSongs
      tags: [Songs]
      responses:
        '200': { content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Song' } } } } }
    post:
      operationId: addSong
      tags: [Songs]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Song' } } } }
      responses: { '200': { $ref: '#/components/responses/Song' } }
  /art:
    get: { operationId: getArt, tags: [Songs], responses: { '302': {}, '404': {} } }
components:
  responses: { Song: { content: { application/json: { schema: { $ref: '#/components/schemas/Song' } } } } }
  schemas:
    Links: { type: object, properties: { links: { type: object, additionalProperties: { type: string } } } }
    Artist: { type: object, properties: { name: { type: string, example: Lena } } }
    Song:
      allOf:
        - { $ref: '#/components/schemas/Links' }
        - { $ref: 'Nowhere' }
        - type: object
          properties:
            id: { type: integer }
            title: { type: string, example: Light }
            isrc: { type: string, nullable: true }
            is_live: { type: boolean, example: 'true' }
            days: { type: array, items: { type: integer }, example: '1,2' }
            artist: { nullable: true, oneOf: [{ $ref: '#/components/schemas/Artist' }] }
            kind: { type: string, enum: [music, news] }
`)
const [list, , art] = document.operations
const song = {
  id: 1,
  title: 'Light',
  isrc: null,
  is_live: true,
  days: [1],
  artist: null,
  kind: 'music',
  links: { self: '/1' }
}

test('reads operations with references', () => {
  expect(document.operations.map(({ id, method }) => [id, method])).toEqual([
    ['getSongs', 'GET'],
    ['addSong', 'POST'],
    ['getArt', 'GET']
  ])
  expect(document.operations[1]).toMatchObject({
    pathParameters: ['station_id'],
    body: { type: 'application/json' },
    response: { status: 200, type: 'application/json', schema: { $ref: '#/components/schemas/Song' } }
  })
  expect(art?.response).toEqual({ status: 302, type: '', schema: null })
})

test('makes a body of examples, parsed by their type, without keys that the server sets', () => {
  expect(sampleOf({ $ref: '#/components/schemas/Song' }, document)).toEqual({
    title: 'Light',
    isrc: null,
    is_live: true,
    days: [1, 2],
    artist: { name: 'Lena' },
    kind: 'music'
  })
})

describe('the verdict', () => {
  const judge = openJudge(document)
  const verdictOf = (json: unknown, status = 200) => {
    if (list === undefined) throw new Error('no operation')
    return judge(list.response, { status, type: 'application/json', bytes: 2, json })
  }
  const partial = { ...song, kind: undefined, days: undefined }

  test.each([
    ['all keys', [song], { kind: 'valid' }],
    ['no element', [], { kind: 'empty' }],
    ['missing keys', [song, partial], { kind: 'keys absent', keys: ['days', 'kind'] }],
    ['a nested key missing', [{ ...song, artist: {} }], { kind: 'keys absent', keys: ['artist.name'] }],
    [
      'null where it is not allowed',
      [{ ...song, title: null }],
      { kind: 'against the schema', problems: ['title must be string, not null'] }
    ]
  ])('%s', (_, json, verdict) => {
    expect(verdictOf(json)).toEqual(verdict)
  })

  test('of an error', () => {
    expect(verdictOf({ message: 'No.' }, 400)).toEqual({ kind: 'refused', problems: ['400 No.'] })
    expect(verdictOf({ message: 'No.' }, 501)).toEqual({ kind: 'out of scope' })
  })
})

test('finds sent values that were not stored, but not secrets, order of ids or the type of a number', () => {
  const sent = { name: 'a', days: [1, 2], weight: 3, password: 'x', note: null, list: [4], more: { b: 1 } }
  const read = { name: 'b', days: ['1', 2], weight: '3', password: '', list: [{ id: 4 }], more: { b: 2 } }
  expect(findDifferences(sent, read)).toEqual(['name: sent "a", read "b"', 'more.b: sent 1, read 2'])
})

test('finds the kind of record of a parameter', () => {
  expect(kindOf('/station/{station_id}/playlist/{id}/order', 'id')).toBe('playlist')
  expect(kindOf('/admin/station/{id}', 'id')).toBe('admin/station')
})

test('replaces the table of a page', () => {
  if (list === undefined) throw new Error('no operation')
  const result = {
    operation: list,
    verdict: { kind: 'valid' },
    effect: true,
    sent: undefined,
    received: null
  } as const
  const page = replaceTable('# Page\n\nText\n', renderTable([result], document.version))
  expect(page).toContain('| `GET /station/{station_id}/songs` | valid | found |')
  expect(replaceTable(page, 'none').split('\n')).toHaveLength(10)
})
