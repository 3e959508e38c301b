import { describe, expect, test } from 'bun:test'
import { encodeXmlName, escapeXml, readXml, XmlViolation } from '../../../src/wire/soap/xml.ts'

const bounds = { depthMax: 5, elementsMax: 20 }

function refuses(text: string): boolean {
  try {
    readXml(text, bounds)
    return false
  } catch (thrown) {
    if (thrown instanceof XmlViolation) return true
    throw thrown
  }
}

describe('the reader of XML', () => {
  test('gives elements, attributes and text without prefixes', () => {
    const root = readXml(
      '\ufeff<?xml version="1.0"?><s:a xmlns:s="u" s:b="1 &gt; 0"><!-- <x> -->x<c/><![CDATA[<&]]>&amp;&#x41;</s:a>',
      bounds,
    )
    expect(root.name).toBe('a')
    expect(root.attributes.get('b')).toBe('1 > 0')
    expect(root.children.map(({ name }) => name)).toEqual(['c'])
    expect(root.text).toBe('x<&&A')
  })

  test('keeps blanks, and numbers as text', () => {
    expect(readXml('<a> 007 </a>', bounds).text).toBe(' 007 ')
  })

  test.each([
    ['a document type', '<!DOCTYPE a><a/>'],
    [
      'a document type in small letters behind a comment',
      '<!-- x --><!doctype a [<!ENTITY b "c">]><a>&b;</a>',
    ],
    ['a document type inside of an element', '<a><!DOCTYPE b></a>'],
    ['an unknown entity', '<a>&b;</a>'],
    ['an entity without an end', '<a>&amp</a>'],
    ['a character that XML does not allow', '<a>&#0;</a>'],
    ['half of a pair', '<a>&#xD800;</a>'],
    ['an element that is not closed', '<a><b></a>'],
    ['two roots', '<a/><b/>'],
    ['text behind the root', '<a/>b'],
    ['nothing', ''],
    ['a name that objects of the parser have', '<__proto__/>'],
    ['too much depth', '<a><a><a><a><a><a/></a></a></a></a></a>'],
    ['too many elements', `<a>${'<b/>'.repeat(20)}</a>`],
    ['an attribute that is there twice', '<a b="1" x:b="2"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['a comment without an end', '<a><!-- </a>'],
    ['CDATA without an end', '<a><![CDATA[ </a>'],
  ])('refuses %s', (_, text) => {
    expect(refuses(text)).toBe(true)
  })
})

describe('the writer of XML', () => {
  test('writes text that reads back unchanged', () => {
    const text = 'a<b>&"c"\r\n\t\u{1f600}'
    expect(readXml(`<a>${escapeXml(text)}</a>`, bounds).text).toBe(text)
  })
  test('replaces what XML cannot hold', () => {
    expect(escapeXml('a\0b\u001fc\ud800d\uffff')).toBe('a\ufffdb\ufffdc\ufffdd\ufffd')
  })
  test.each([
    ['CUBE_NAME', 'CUBE_NAME'],
    ['[D].[H]', '_x005B_D_x005D_._x005B_H_x005D_'],
    ['1 a', '_x0031__x0020_a'],
    ['_x0020_', '_x005F_x0020_'],
  ])('writes %s as the name %s', (text, name) => {
    expect(encodeXmlName(text)).toBe(name)
  })
})
