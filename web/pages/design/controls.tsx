import CalendarDays from "lucide-react/icons/calendar";
import ChevronDown from "lucide-react/icons/chevron-down";
import Clock from "lucide-react/icons/clock";
import Ellipsis from "lucide-react/icons/ellipsis";
import FileText from "lucide-react/icons/file";
import Pencil from "lucide-react/icons/pencil";
import Plus from "lucide-react/icons/plus";
import SlidersHorizontal from "lucide-react/icons/sliders-horizontal";
import Trash2 from "lucide-react/icons/trash-2";
import Unlink from "lucide-react/icons/unlink";
import { useState } from "react";
import { Avatar, LetterTile, WorkspaceMark } from "../../ui/avatar.tsx";
import { Button, buttonClass, IconButton } from "../../ui/button.tsx";
import { AddChip, Badge, Chip, ChipSeparator, FilterChip, FilterWord, Kbd, Status, Tag } from "../../ui/chip.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Segmented, Tabs } from "../../ui/tabs.tsx";
import { Exhibit, Line } from "./exhibit.tsx";

export function Controls() {
  return (
    <>
      <Buttons />
      <Chips />
      <Exhibit title="People and places">
        <Line>
          <Avatar name="Yara Okafor" size="sm" />
          <Avatar name="Yara Okafor" />
          <Avatar name="you@alder.example" />
          <Avatar name="Mila Brandt" size="lg" />
          <WorkspaceMark name="Alder Coffee" />
          <WorkspaceMark name="Alder Coffee" size="lg" />
          {["shop.alder.example", "forms.example.org", "maps.example.net", "docs.alder.example"].map((host) => (
            <LetterTile key={host} name={host} />
          ))}
          <LetterTile name="menu.pdf" icon={FileText} />
          <LetterTile name="shop.alder.example" size="lg" />
          <LetterTile name="menu.pdf" icon={FileText} size="lg" />
        </Line>
      </Exhibit>
      <Choices />
    </>
  );
}

function Buttons() {
  const [isLoading, setLoading] = useState(false);
  return (
    <Exhibit title="Buttons">
      <Line>
        <Button variant="primary" icon={Plus} kbd="N">
          New link
        </Button>
        <Button icon={CalendarDays} iconEnd={ChevronDown}>
          This month
        </Button>
        <Button>Cancel</Button>
        <Button variant="quiet" icon={Pencil}>
          Edit
        </Button>
        <Button variant="danger" icon={Trash2}>
          Delete
        </Button>
        <IconButton icon={SlidersHorizontal} label="Columns" variant="secondary" />
        <IconButton icon={Ellipsis} label="More" variant="secondary" />
        <IconButton icon={Ellipsis} label="More, quiet" shortcut="M" />
        <a href="#design" className={buttonClass({ variant: "secondary" })}>
          Documentation
        </a>
      </Line>
      <Line>
        <Button size="sm">SVG</Button>
        <Button size="sm" icon={Plus}>
          Small
        </Button>
        <Button size="sm" disabled>
          Previous
        </Button>
        <IconButton icon={Pencil} label="Edit, small" size="sm" />
        <CopyButton text="al.example/winter" label="Copy al.example/winter" copiedLabel="Copied" />
        <CopyButton text="al.example/winter" label="Copy" copiedLabel="Copied">
          Copy
        </CopyButton>
        <Button variant="primary" size="lg">
          Create account
        </Button>
      </Line>
      <Line>
        <Button variant="primary" loading>
          Create link
        </Button>
        <Button loading={isLoading} onClick={() => setLoading(true)}>
          Load when clicked
        </Button>
        <Button variant="primary" disabled>
          Disabled
        </Button>
        <Button disabled icon={Plus}>
          Disabled
        </Button>
        <Button disabledReason="You are offline. Changes are disabled until you reconnect.">
          Disabled with a reason
        </Button>
      </Line>
    </Exhibit>
  );
}

function Chips() {
  const [shown, setShown] = useState("all");
  const [isFiltered, setFiltered] = useState(true);
  return (
    <Exhibit title="Chips, tags and states">
      <div className="flex flex-wrap items-center gap-1.5">
        <Chip pressed={shown === "all"} count="1,246" onClick={() => setShown("all")}>
          All
        </Chip>
        <Chip pressed={shown === "active"} count="1,158" onClick={() => setShown("active")}>
          Active
        </Chip>
        <Chip pressed={shown === "trouble"} count="3" dot="warn" onClick={() => setShown("trouble")}>
          Needs attention
        </Chip>
        <ChipSeparator />
        {isFiltered && (
          <FilterChip removeLabel="Remove the domain filter" onRemove={() => setFiltered(false)} onEdit={() => {}}>
            <FilterWord>Domain is</FilterWord> al.example <FilterWord>or</FilterWord> go.alder.example
          </FilterChip>
        )}
        <AddChip onClick={() => setFiltered(true)}>Filter</AddChip>
      </div>
      <Line>
        <Tag>campaign</Tag>
        <Tag>product</Tag>
        <Tag tinted>cafés</Tag>
        <Tag tinted>events</Tag>
        <Tag tinted>hiring</Tag>
        <Tag tinted>newsletter</Tag>
        <Kbd>⌘K</Kbd>
        <Kbd>?</Kbd>
      </Line>
      <Line>
        <Status tone="ok">Active</Status>
        <Status tone="warn">84% of quota</Status>
        <Status tone="bad">Quota full</Status>
        <Status tone="bad" icon={Unlink}>
          Target 404
        </Status>
        <Status tone="quiet" icon={Clock}>
          Expired
        </Status>
        <Badge tone="ok">Active</Badge>
        <Badge tone="warn">Pending</Badge>
        <Badge tone="bad">Suspended</Badge>
        <Badge tone="quiet">Disabled</Badge>
      </Line>
    </Exhibit>
  );
}

type Grain = "hour" | "day" | "week";
type Part = "members" | "invitations";

function Choices() {
  const [grain, setGrain] = useState<Grain>("day");
  const [part, setPart] = useState<Part>("members");
  const grains = [
    { value: "hour", label: "Hour" },
    { value: "day", label: "Day" },
    { value: "week", label: "Week" },
  ] as const;
  return (
    <Exhibit title="Tabs">
      <Line>
        <Segmented label="Interval" value={grain} onValueChange={setGrain} options={grains} />
        <Segmented label="Interval, quiet" look="text" value={grain} onValueChange={setGrain} options={grains} />
      </Line>
      <Tabs
        label="People"
        value={part}
        onValueChange={setPart}
        options={[
          { value: "members", label: "Members", count: "12" },
          { value: "invitations", label: "Invitations" },
        ]}
      >
        <p className="text-text-2">{part === "members" ? "Twelve members." : "No invitations."}</p>
      </Tabs>
    </Exhibit>
  );
}
