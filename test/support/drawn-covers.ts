/** Covers for screenshots: shapes in few colors, as SVG. The same name results in the same cover. */
export function drawCover(name: string): string {
  const [back, middle, front] = palettes[numberOf(name) % palettes.length] ?? ['#333', '#666', '#999']
  const draw = drawings[numberOf(`${name} shape`) % drawings.length]
  const grain =
    '<filter id="g"><feTurbulence baseFrequency=".8" numOctaves="3"/><feColorMatrix values="0 0 0 0 .5 0 0 0 0 .5 0 0 0 0 .5 0 0 0 .35 0"/></filter>'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600" width="600" height="600">${grain}
    <rect width="600" height="600" fill="${back}"/>${draw?.(middle, front) ?? ''}
    <rect width="600" height="600" filter="url(#g)" opacity=".5" style="mix-blend-mode:soft-light"/></svg>`
}

const numberOf = (name: string) => Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 9_973, 7)

const palettes = [
  ['#1f3a4d', '#e8b04b', '#f4ead5'],
  ['#e4572e', '#17363c', '#f3ddb8'],
  ['#2d2a4a', '#d96c75', '#f5c8a5'],
  ['#cfd8c6', '#2f5d50', '#e07a3f'],
  ['#f0e2c8', '#b23a48', '#1c2b39']
] as const

type Draw = (middle: string, front: string) => string

const drawings: readonly Draw[] = [
  (middle, front) =>
    `<circle cx="300" cy="330" r="190" fill="${middle}"/>${[0, 1, 2, 3, 4, 5].map(line => `<rect y="${350 + line * 38}" width="600" height="${6 + line * 5}" fill="${front}" opacity=".9"/>`).join('')}`,
  (middle, front) =>
    `<path d="M0 600 L210 180 L340 430 L430 290 L600 600Z" fill="${middle}"/><circle cx="440" cy="150" r="70" fill="${front}"/>`,
  (middle, front) =>
    [240, 190, 140, 90, 40]
      .map(
        (r, at) =>
          `<circle cx="${240 + at * 24}" cy="${260 + at * 20}" r="${r}" fill="${at % 2 === 0 ? middle : front}"/>`
      )
      .join(''),
  (middle, front) =>
    [0, 1, 2, 3, 4]
      .map(
        at =>
          `<path d="M${-60 + at * 140} 620 C ${60 + at * 140} 380, ${-80 + at * 140} 240, ${80 + at * 140} -20" stroke="${at % 2 === 0 ? middle : front}" stroke-width="46" fill="none"/>`
      )
      .join('')
]
