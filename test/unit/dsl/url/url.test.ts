import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { URL as OurUrl } from '../../../../dsl/url/url.ts';
import { URLSearchParams as OurParams } from '../../../../dsl/url/url-search-params.ts';

type AnyUrl = URL | OurUrl;
type UrlClass = new (url: string, base?: string) => AnyUrl;

/** Everything a URL shows, or that it is none. */
function show(Class: UrlClass, input: string, base: string | undefined, change?: (url: AnyUrl) => void): unknown {
  let url: AnyUrl;
  try {
    url = base === undefined ? new Class(input) : new Class(input, base);
  } catch (error) {
    return (error as Error).name;
  }
  change?.(url);
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  return {
    href,
    origin,
    protocol,
    username,
    password,
    host,
    hostname,
    port,
    pathname,
    search,
    hash,
    params: url.searchParams.toString(),
    json: JSON.stringify(url),
  };
}

const PIECES = [
  ...[
    'http:',
    'https://',
    'file:///',
    'file:',
    'mailto:',
    'foo://',
    'foo:',
    '//',
    '/',
    '\\',
    '..',
    '.',
    '%2e',
    '?',
    '#',
    '@',
    ':',
    '80',
    '443',
  ],
  ...[
    'example.com',
    'EXAMPLE',
    'user',
    'pa:ss',
    '[::1]',
    '[1:2:3:4:5:6:7:8]',
    '[::ffff:1.2.3.4]',
    '127.1',
    '0x7f.1',
    'a b',
    'é',
    '😀',
    '%41',
    '%zz',
  ],
  ...[
    'c:',
    'C|',
    '|',
    '^',
    '`',
    '{',
    '"',
    "'",
    '<',
    '&',
    '=',
    '+',
    'x',
    'y=1',
    '\t',
    ' ',
    'localhost',
    'ws://',
    'ftp://h',
    '256.1.1.1',
    '1.2.3',
  ],
  ...['..%2f', 'data:text/plain,hi', '~', '[', '%', 'bücher.de', '😀.example', 'ｆｕｌｌ.com'],
];
const BASES = [
  undefined,
  'http://user@h.example:81/a/b/c?q#f',
  'file:///C:/x/y',
  'mailto:x@y',
  'foo://h/a/b',
  'foo:/p/q',
  'https://e.com',
];
const input = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(''));

describe('URL (S-19)', () => {
  it('parses whatever it is given as the platform’s does', () => {
    fc.assert(
      fc.property(input, fc.constantFrom(...BASES), (text, base) => {
        expect(show(OurUrl, text, base)).toEqual(show(URL, text, base));
      }),
      { numRuns: 5000 },
    );
  });

  it('takes changes of its parts as the platform’s does', () => {
    const parts = ['hash', 'search', 'pathname', 'port', 'username', 'password', 'href'] as const;
    const values = fc.constantFrom(
      '',
      '#x y',
      '?a=1&b',
      'a b',
      '/p/../q',
      '8080',
      '443',
      '70000',
      '12x',
      'né',
      'https://other.example/x',
    );
    const starts = fc.constantFrom(
      'https://u:p@example.com:444/a?b#c',
      'http://h/',
      'file:///x',
      'mailto:a@b',
      'foo://h/p',
    );
    fc.assert(
      fc.property(starts, fc.constantFrom(...parts), values, (start, part, value) => {
        const change = (url: AnyUrl): void => {
          try {
            url[part] = value;
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError);
          }
        };
        expect(show(OurUrl, start, undefined, change)).toEqual(show(URL, start, undefined, change));
      }),
      { numRuns: 1000 },
    );
    for (const [part, value] of [
      ['host', 'new.example:81'],
      ['hostname', 'other.example'],
      ['protocol', 'http'],
      ['host', 'only.example'],
    ] as const) {
      const change = (url: AnyUrl): void => {
        url[part] = value;
      };
      expect(show(OurUrl, 'https://h:444/x', undefined, change)).toEqual(
        show(URL, 'https://h:444/x', undefined, change),
      );
    }
  });

  it('shows a change of its parameters, and tells whether a text is a URL', () => {
    const url = new OurUrl('https://h/p?a=1');
    url.searchParams.append('b', 'é x');
    expect(url.href).toBe('https://h/p?a=1&b=%C3%A9+x');
    url.searchParams.delete('a');
    url.searchParams.delete('b');
    expect(url.href).toBe('https://h/p');
    expect([
      OurUrl.canParse('x:y'),
      OurUrl.canParse('nope'),
      OurUrl.parse('nope'),
      OurUrl.parse('/a', 'https://h')?.href,
    ]).toEqual([...[true, false, null, 'https://h/a']]);
  });
});

describe('URLSearchParams (S-19)', () => {
  it('reads and writes as the platform’s does', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '=', '&', '+', '%20', '%C3%A9', 'é', '😀', '?', ' ', '*', '~', '\ud800'),
    });
    fc.assert(
      fc.property(text, (query) => {
        const [ours, theirs] = [new OurParams(query), new URLSearchParams(query)];
        expect([...ours]).toEqual([...theirs]);
        expect(ours.toString()).toBe(theirs.toString());
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps lists of names and values', () => {
    const act = (params: URLSearchParams | OurParams): unknown => {
      params.append('b', '2');
      params.set('a', '9');
      params.append('a', '3');
      const seen = [
        params.get('a'),
        params.getAll('a'),
        params.has('b', '2'),
        params.has('b', '3'),
        params.get('none'),
        params.size,
      ];
      params.delete('a', '3');
      params.sort();
      const each: string[] = [];
      params.forEach((value, name) => {
        each.push(name + value);
      });
      return [seen, params.toString(), each, [...params.keys()], [...params.values()], [...params.entries()]];
    };
    expect(act(new OurParams('z=1&a=1&a=2'))).toEqual(act(new URLSearchParams('z=1&a=1&a=2')));
    for (const init of [{ a: '1', b: 'x y' }, [['p', '1']], new Map([['m', '2']])]) {
      expect(new OurParams(init).toString()).toBe(new URLSearchParams(init as never).toString());
    }
    expect(() => new OurParams([['one']])).toThrow(TypeError);
  });
});
