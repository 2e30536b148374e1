import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'

test('the page of the API loads nothing but files of this server', async ({ program }) => {
  const page = await program.ask('GET', '/api/docs', { key: '' })
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
  const links = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
  expect(links).toEqual([
    'data:,',
    'docs/swagger-ui.css',
    'docs/swagger-ui-bundle.js',
    'docs/start.js',
    'openapi.json'
  ])
})

test.for([
  { file: 'swagger-ui.css', type: 'text/css', has: '.swagger-ui' },
  { file: 'swagger-ui-bundle.js', type: 'text/javascript', has: 'SwaggerUIBundle' },
  { file: 'start.js', type: 'text/javascript', has: "url: 'openapi.json'" }
])('the page gets $file', async ({ file, type, has }, { program }) => {
  const { status, headers, body } = await program.ask('GET', `/api/docs/${file}`, { key: '' })
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  expect(body).toContain(has)
})

test.for(['package.json', 'index.html', '..%2fpackage.json'])(
  'no other file of the package is served: %s',
  async (file, { program }) => {
    expect((await program.ask('GET', `/api/docs/${file}`, { key: '' })).status).toBe(404)
  }
)
