import { describe, expect, test } from 'vitest'

import { likePattern, renderListReply, parseListQuery, toLimitAndOffset } from '../../../src/api/core/list.ts'

const keys = ['id', 'name']
const parse = (query: string) => parseListQuery({ query: new URLSearchParams(query) }, keys)

function reply(query: string, rows: unknown[], total: number) {
  const request = {
    method: 'GET',
    path: '/api/things',
    params: {},
    query: new URLSearchParams(query),
    body: undefined,
    apiKey: '',
    dialect: 'documented' as const,
    address: '',
    isOwnPage: false,
    host: '',
    userAgent: '',
    caller: null,
    stream: null,
    headers: {},
    isOpen: () => true,
    onSettled: () => {}
  }
  const elements = [Buffer.from(rows.join())]
  const { body, headers } = renderListReply({ elements, total }, parse(query), request, 'http://x')
  return { body: JSON.parse(String(body)), headers }
}

describe('a list', () => {
  test('is an array of all records unless a page or a size is requested', () => {
    expect(parse('').page).toBeNull()
    expect(toLimitAndOffset(parse(''))).toEqual({ limit: 10_000, offset: 0 })
    expect(reply('', [1, 2], 2)).toEqual({ body: [1, 2], headers: { 'X-Total-Count': '2' } })
  })

  test.for([
    ['page=2', { number: 2, size: 25 }],
    ['current=2', { number: 2, size: 25 }],
    ['per_page=10', { number: 1, size: 10 }],
    ['rowCount=10&current=3', { number: 3, size: 10 }],
    ['per_page=100000', { number: 1, size: 500 }],
    ['per_page=0', { number: 1, size: 0 }],
    ['rowCount=-1', { number: 1, size: 0 }]
  ] as const)('asked for by %s is a page', ([query, page]) => {
    expect(parse(query).page).toEqual(page)
  })

  test('links to the adjacent pages with the rest of the query', () => {
    const { body, headers } = reply('page=2&per_page=2&searchPhrase=a%26b', [3, 4], 5)
    expect(headers).toEqual({ 'X-Total-Count': '5' })
    const link = (page: number) => `http://x/api/things?searchPhrase=a%26b&page=${page}&per_page=2`
    expect(body).toEqual({
      page: 2,
      per_page: 2,
      total: 5,
      total_pages: 3,
      links: { first: link(1), previous: link(1), next: link(3), last: link(3) },
      rows: [3, 4]
    })
  })

  test('without a page size has a limit, and more pages after it', () => {
    expect(toLimitAndOffset(parse('per_page=0'))).toEqual({ limit: 10_000, offset: 0 })
    expect(toLimitAndOffset(parse('rowCount=-1&current=3'))).toEqual({ limit: 10_000, offset: 20_000 })
    const { body } = reply('per_page=0', [], 25_000)
    expect(body).toMatchObject({ page: 1, per_page: 10_000, total: 25_000, total_pages: 3 })
    expect(body.links.next).toBe('http://x/api/things?page=2&per_page=0')
  })

  test('after the last page is empty, and links back', () => {
    const { body } = reply('page=9&per_page=2', [], 5)
    expect(body).toMatchObject({ page: 9, total_pages: 3, rows: [] })
    expect(body.links.previous).toContain('page=3')
    expect(body.links.next).toContain('page=3')
  })

  test('without a page size reports the number of records', () => {
    expect(reply('per_page=0', [1, 2, 3], 3).body).toMatchObject({
      page: 1,
      per_page: 3,
      total: 3,
      total_pages: 1
    })
  })

  test('that is too long for an array links to the next page', () => {
    const { headers } = reply('', [], 10_001)
    expect(headers?.['Link']).toBe('<http://x/api/things?page=21&per_page=500>; rel="next"')
  })

  test.for([
    ['sort=size', 'sort must be one of id, name.'],
    ['sortOrder=up', 'sortOrder must be ASC or DESC.'],
    ['page=x', 'page must be a whole number.'],
    ['page=0', 'page must be from 1 to 1000000000.'],
    [`searchPhrase=${'a'.repeat(201)}`, 'searchPhrase must have at most 200 characters.']
  ] as const)('is refused for %s', ([query, message]) => {
    expect(() => parse(query)).toThrow(message)
  })

  test('is sorted as requested, in any case', () => {
    expect(parse('sort=name&sortOrder=desc')).toMatchObject({ sort: 'name', isDescending: true })
    expect(parse('sort=&sortOrder=')).toMatchObject({ sort: null, isDescending: false })
  })

  test('is searched for literal text', () => {
    expect(likePattern('50%_\\')).toBe('%50\\%\\_\\\\%')
  })
})
