import { describe, expect, test } from 'vitest'

import { simulateHelpText, parseSimulateArguments } from '../../../../src/commands/simulate/arguments.ts'

const nothing = {
  station: null,
  days: 7,
  fromDay: null,
  zone: null,
  seed: null,
  svg: null,
  json: null,
  log: false
}

test('the default is a week of the example station', () => {
  expect(parseSimulateArguments([])).toEqual(nothing)
})

test('every option is parsed, with or without an equals sign', () => {
  const words =
    '--station demo --days=3 --from 2026-03-23 --timezone Europe/Berlin --seed 0 --svg a.svg --json=b.json --log'
  const request = parseSimulateArguments(words.split(' '))
  expect(request).toMatchObject({
    station: 'demo',
    days: 3,
    fromDay: Date.UTC(2026, 2, 23) / 86_400_000,
    seed: 0,
    svg: 'a.svg',
    json: 'b.json',
    log: true
  })
  expect(request?.zone?.name).toBe('Europe/Berlin')
})

test('help takes precedence, and lists every option', () => {
  expect(parseSimulateArguments(['--days', 'x', '-h'])).toBeNull()
  expect(parseSimulateArguments(['--help'])).toBeNull()
  for (const name of ['station', 'days', 'from', 'timezone', 'seed', 'svg', 'json', 'log', 'help'])
    expect(simulateHelpText).toContain(`  --${name}`)
})

describe('a mistake is reported', () => {
  test.for([
    [['--bogus'], 'unknown option --bogus'],
    [['week.svg'], 'unexpected argument "week.svg"'],
    [['--svg'], '--svg needs a value'],
    [['--svg', '--log'], '--svg needs a value'],
    [['--svg='], '--svg needs a value'],
    [['--log=yes'], '--log takes no value'],
    [['--days', '0'], '--days must be a number from 1 to 31 (got "0")'],
    [['--days', '32'], '--days must be a number from 1 to 31 (got "32")'],
    [['--days', '1.5'], '--days must be a number from 1 to 31 (got "1.5")'],
    [['--from', '2026-02-30'], '--from must be a date of the form YYYY-MM-DD (got "2026-02-30")'],
    [['--from', '23.3.2026'], '--from must be a date of the form YYYY-MM-DD (got "23.3.2026")'],
    [
      ['--timezone', 'Mars/Olympus'],
      '--timezone must be a time zone, such as Europe/Berlin (got "Mars/Olympus")'
    ],
    [['--seed', '2147483648'], '--seed must be a whole number from 0 to 2147483647 (got "2147483648")']
  ] as const)('%j', ([args, problem]) => {
    expect(() => parseSimulateArguments(args)).toThrow(
      `${problem}\nnpm run simulate -- --help lists the options`
    )
  })
})

test('all mistakes are reported at once', () => {
  expect(() => parseSimulateArguments(['--days', 'x', '--bogus', '--seed', '-1', 'a'])).toThrow(
    [
      'unknown option --bogus',
      '--seed needs a value',
      'unexpected argument "a"',
      '--days must be a number from 1 to 31 (got "x")',
      'npm run simulate -- --help lists the options'
    ].join('\n')
  )
})
